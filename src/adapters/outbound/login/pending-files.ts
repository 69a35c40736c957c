import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../application/ports/services.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { isOwn, readAccepted, replaceFile } from '../files/written-files.ts';
import { opened, sealed } from './login-cipher.ts';

/** How long a browser may stay at an issuer. */
export const PENDING_MS = 600_000;

const ENDING = '.pending';

/** Anyone can begin a sign-in at the issuer of the callers: of more files of one kind, the oldest give way. */
export const MAX_PENDING = 1000;

/** What a browser has begun, as it is named there, and the secret that proves it is the same browser. */
export interface Begun {
  /** The `state` of OAuth, which only the browser and the issuer learn. */
  readonly state: string;
  readonly id: string;
  readonly secret: string;
}

/** Steps of one kind that a browser has begun at one process and ends once, at any process over the same folder. */
export class PendingFiles {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #key: Buffer | undefined;
  readonly #ending: string;

  /** `kind` separates what is begun by strangers from what they cannot begin. */
  constructor(folder: string, clock: Clock, key: Buffer | undefined, kind: 'person' | 'proof' | 'login') {
    this.#folder = folder;
    this.#clock = clock;
    this.#key = key;
    this.#ending = `.${kind}${ENDING}`;
  }

  /** A state and a secret of 256 random bits each. */
  begin(): Begun {
    const [state, secret] = [newSecret(), newSecret()];
    return { state, secret, id: digest(state).slice(0, 32) };
  }

  /** Keeps what is needed to end a step. Rejects if the folder cannot be written. */
  async keep({ id, secret }: Begun, content: JsonObject): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#makeRoom();
    const name = id + this.#ending;
    const endsAt = this.#clock.now().getTime() + PENDING_MS;
    const text = JSON.stringify({ content, endsAt, browser: digest(secret) });
    await replaceFile(join(this.#folder, name), this.#key === undefined ? text : sealed(text, name, this.#key), 0o600);
  }

  /** Takes what was kept for a state, if this browser has begun it. Of several who take it, one gets it. */
  async take(state: string, secretOf: (id: string) => string | undefined): Promise<JsonObject | undefined> {
    const id = digest(state).slice(0, 32);
    const name = id + this.#ending;
    const path = join(this.#folder, name);
    const secret = secretOf(id);
    if (secret === undefined) return undefined;
    const { text: content = '' } = await readAccepted(path, isOwn);
    const { text = '', isPlain } = opened(content, name, this.#key) ?? {};
    // Another program that can write the folder could have written a plain file.
    const pending = isPlain && this.#key !== undefined ? undefined : parseJson(text);
    // Another browser must not end it, nor take it from the one that began. A digest of random bits cannot be guessed from the time of a comparison.
    if (!isObject(pending) || !isObject(pending.content) || pending.browser !== digest(secret)) return undefined;
    const isTaken = await unlink(path).then(
      () => true,
      () => false,
    );
    const isInTime = this.#clock.now().getTime() < Number(pending.endsAt);
    return isTaken && isInTime ? pending.content : undefined;
  }

  /** Removes what can no longer be ended, and the oldest of too many. */
  async #makeRoom(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.includes(ENDING));
    const now = this.#clock.now().getTime();
    const files = await Promise.all(
      names.map(async (name) => {
        const path = join(this.#folder, name);
        const { mtimeMs = now } = (await stat(path).catch(() => undefined)) ?? {};
        return { path, mtimeMs, isOfKind: name.includes(this.#ending) };
      }),
    );
    const latestFirst = files.filter(({ isOfKind }) => isOfKind).sort((one, other) => other.mtimeMs - one.mtimeMs);
    const old = files.filter(({ mtimeMs }) => now - mtimeMs > PENDING_MS);
    for (const { path } of [...old, ...latestFirst.slice(MAX_PENDING - 1)]) await rm(path, { force: true });
  }
}

function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
