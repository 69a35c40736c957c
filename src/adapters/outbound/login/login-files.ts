import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { never } from '../../../application/async/deadline.ts';
import type { Clock, Logger } from '../../../application/ports/services.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isOwn, readAccepted, replaceFile } from '../files/written-files.ts';
import type { Login } from './login.ts';

/** A lock that is older belongs to a process that was killed, because running processes touch their locks. */
const STALE_MS = 10_000;
const TOUCH_MS = 2000;
const POLL_MS = 50;

/** The logins of the servers, one file for each, which only its owner can read. */
export class LoginFiles {
  readonly folder: string;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'warn'> | undefined;
  /** The files that a warning has named. */
  readonly #named = new Set<string>();

  /** `logger` gets one warning for each file that cannot be used. */
  constructor(folder: string, clock: Clock, logger?: Pick<Logger, 'warn'>) {
    this.folder = folder;
    this.#clock = clock;
    this.#logger = logger;
  }

  pathOf(url: string): string {
    return join(this.folder, `${createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 32)}.json`);
  }

  /** Whether other users of this machine have access to a login, or to the folder. Files on Windows have no such modes. */
  async isShared(url: string): Promise<boolean> {
    const paths = process.platform === 'win32' ? [] : [this.folder, this.pathOf(url)];
    const modes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mode ?? 0));
    return modes.some((mode) => (mode & 0o077) !== 0);
  }

  /** The login of a server; undefined if its file cannot be read or contains none, or belongs to another user, whose account would then get the calls. */
  async read(url: string): Promise<Login | undefined> {
    const path = this.pathOf(url);
    const { text, reason } = await readAccepted(path, isOwn);
    const login = parseJson(text ?? '');
    if (isLogin(login)) return login;
    const why = text === undefined ? reason : 'it contains no login';
    if (why !== undefined && !this.#named.has(path)) {
      this.#named.add(path);
      this.#logger?.warn(`logins: ${path} is not used, because ${why}; sign in again`);
    }
    return undefined;
  }

  /**
   * Runs a task while no other process writes the login of this server. Rejects if the folder cannot be written, or `signal` aborts before
   * the lock is free.
   */
  async locked<T>(url: string, task: () => Promise<T>, signal = never()): Promise<T> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const lock = this.pathOf(url).replace(/json$/, 'lock');
    while (!(await makeLock(lock))) {
      signal.throwIfAborted();
      const { mtimeMs = 0 } = (await stat(lock).catch(() => undefined)) ?? {};
      // The distance counts in both directions, because the clock may have been set back.
      const isStale = Math.abs(this.#clock.now().getTime() - mtimeMs) >= STALE_MS;
      if (isStale) await rm(lock, { force: true });
      else await this.#clock.sleep(POLL_MS, signal);
    }
    const ended = new AbortController();
    void this.#touch(lock, ended.signal);
    try {
      return await task();
    } finally {
      ended.abort();
      await rm(lock, { force: true });
    }
  }

  /** Replaces a login, or removes it if undefined. Only for a task with the lock. At any time, the file is the old or the new one. */
  async write(url: string, login: Login | undefined): Promise<void> {
    const path = this.pathOf(url);
    // Temporary files that killed processes left.
    for (const name of await readdir(this.folder))
      if (name.startsWith(basename(path)) && name.endsWith('.tmp')) await rm(join(this.folder, name), { force: true });
    if (login === undefined) return rm(path, { force: true });
    await replaceFile(path, `${JSON.stringify(login, undefined, 2)}\n`, 0o600);
  }

  async #touch(lock: string, ended: AbortSignal): Promise<void> {
    do {
      const now = this.#clock.now();
      await utimes(lock, now, now).catch(() => {});
    } while ((await this.#clock.sleep(TOUCH_MS, ended)) === 'elapsed');
  }
}

function isLogin(value: unknown): value is Login {
  const { metadata, client, tokens } = isObject(value) ? value : {};
  const urls = isObject(metadata) ? [metadata.issuer, metadata.token_endpoint] : [''];
  const isComplete = isObject(client) && typeof client.client_id === 'string' && isObject(tokens);
  return isComplete && typeof tokens.access_token === 'string' && urls.every((url) => URL.canParse(String(url)));
}

/** Takes the lock; false if another process has it. The lock is an empty file, so that it can be created on a full disk. */
async function makeLock(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
