import { createHmac, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Services } from '../../../application/ports/services.ts';
import type { Definitions, KeptDefinitions } from '../../../application/ports/tool-server.ts';
import { codeOf, reasonOf } from '../../../domain/values/certificate-problem.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isTrusted, readAccepted, replaceFile } from '../files/written-files.ts';

/** Files of another version are not used. */
const VERSION = 1;
/** Files of servers that were not started for this time are removed. */
const UNUSED_MS = 90 * 24 * 60 * 60 * 1000;

/** Keeps a file for each key in a folder of the user. The name of a file is a hash with a random key, so that it does not reveal the server. */
export class DefinitionFiles implements KeptDefinitions {
  readonly #folder: string;
  readonly #services: Pick<Services, 'clock' | 'logger'>;
  #secret: Promise<string> | undefined;
  #hasWarned = false;

  constructor(folder: string, services: Pick<Services, 'clock' | 'logger'>) {
    this.#folder = folder;
    this.#services = services;
  }

  async read(key: string): Promise<Definitions | undefined> {
    const secret = await this.#readSecret();
    if (secret === undefined) return undefined;
    return toDefinitions(parseJson((await textOf(this.#pathOf(key, secret))) ?? ''));
  }

  async write(key: string, definitions: Definitions): Promise<void> {
    try {
      this.#secret ??= this.#makeSecret();
      const path = this.#pathOf(key, await this.#secret);
      await replaceFile(path, JSON.stringify({ version: VERSION, ...definitions }), 0o600);
    } catch (error) {
      this.#secret = undefined;
      if (!this.#hasWarned)
        this.#services.logger.warn(
          `gateway: the lists of servers cannot be kept in ${this.#folder} (${reasonOf(error)}), so servers start with every session`,
        );
      this.#hasWarned = true;
    }
  }

  #pathOf(key: string, secret: string): string {
    return join(this.#folder, `${createHmac('sha256', secret).update(key).digest('hex').slice(0, 32)}.json`);
  }

  /** The random key; undefined if it is missing or damaged, or if other users can replace it. */
  async #readSecret(): Promise<string | undefined> {
    const folder = await stat(this.#folder).catch(() => undefined);
    if (folder === undefined || !isTrusted(folder)) return undefined;
    const secret = await textOf(join(this.#folder, 'key'));
    return secret !== undefined && /^[0-9a-f]{64}$/.test(secret) ? secret : undefined;
  }

  /** Creates the random key. If several processes do so at the same time, the last key stays. */
  async #makeSecret(): Promise<string> {
    await makeFolder(this.#folder);
    if (!isTrusted(await stat(this.#folder))) throw new Error('other users can write there');
    await this.#removeUnused();
    const known = await this.#readSecret();
    if (known !== undefined) return known;
    await replaceFile(join(this.#folder, 'key'), randomBytes(32).toString('hex'), 0o600);
    return (await this.#readSecret()) ?? '';
  }

  async #removeUnused(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const { mtimeMs = 0 } = (await stat(path).catch(() => undefined)) ?? {};
      const ageMs = this.#services.clock.now().getTime() - mtimeMs;
      if (name !== 'key' && ageMs > UNUSED_MS) await rm(path, { force: true });
    }
  }
}

/** When one of the files that a command names, such as a script, last changed, in milliseconds since 1970; 0 if it names none. */
export async function lastChangeMs(named: {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}): Promise<number> {
  const paths = [named.command, ...named.args].map((word) => resolve(named.cwd, word));
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return Math.max(0, ...files.map((stats) => (stats?.isFile() ? stats.mtimeMs : 0)));
}

/** The definitions in a file; undefined if another version wrote it, or it is damaged. */
function toDefinitions(value: unknown): Definitions | undefined {
  if (!isObject(value) || value.version !== VERSION) return undefined;
  const { version: _, listedAt: date, ...described } = value;
  const { tools, shared } = described;
  const listedAt = new Date(String(date));
  const isComplete =
    !Number.isNaN(listedAt.getTime()) &&
    Array.isArray(tools) &&
    tools.every((tool) => isObject(tool) && typeof tool.name === 'string') &&
    isObject(shared) &&
    Object.values(shared).every(Array.isArray);
  return isComplete ? { ...(described as unknown as Definitions), listedAt } : undefined;
}

/** Creates the folder and its parents. The option `recursive` of Node.js would try forever below `/proc`. */
async function makeFolder(folder: string): Promise<void> {
  if ((await hasMade(folder)) || dirname(folder) === folder) return;
  await makeFolder(dirname(folder));
  await hasMade(folder);
}

/** Creates the folder unless it exists; false if its parent is missing. */
async function hasMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error ? codeOf(error) : undefined;
    if (code === 'ENOENT') return false;
    if (code !== 'EEXIST') throw error;
  }
  return true;
}

async function textOf(path: string): Promise<string | undefined> {
  return (await readAccepted(path, isTrusted)).text;
}
