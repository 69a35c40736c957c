import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { never } from '../../../application/async/deadline.ts';
import type { Clock, Logger } from '../../../application/ports/services.ts';
import { idOfUse, type LoginOwner, type LoginUse, ownerName, parseOwner } from '../../../domain/gateway/login-owner.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isOwn, readAccepted, replaceFile } from '../files/written-files.ts';
import type { Login } from './login.ts';
import { opened, sealed } from './login-cipher.ts';

/** A lock that is older belongs to a process that was killed, because running processes touch their locks. */
const STALE_MS = 10_000;
const TOUCH_MS = 2000;
const POLL_MS = 50;

/** What a login is for: the URL of a server, and who uses the login. */
export interface LoginPlace {
  readonly url: string;
  readonly use: LoginUse;
}

interface Options {
  /** Gets one warning for each file that cannot be used. */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
  /** The key with which files are encrypted; undefined if they are not. */
  readonly key?: Buffer | undefined;
}

/** The logins to servers, one file for each server and use, which only its owner can read. */
export class LoginFiles {
  readonly folder: string;
  readonly #clock: Clock;
  readonly #options: Options;
  /** The files that a warning has named. */
  readonly #named = new Set<string>();
  /** The files whose lock this process has. */
  readonly #held = new Set<string>();

  constructor(folder: string, clock: Clock, options: Options = {}) {
    this.folder = folder;
    this.#clock = clock;
    this.#options = options;
  }

  pathOf(place: LoginPlace): string {
    return join(this.folder, nameOf(place));
  }

  /** Whether other users of this machine have access to a login, or to the folder. Files on Windows have no such modes. */
  async isShared(place: LoginPlace): Promise<boolean> {
    const paths = process.platform === 'win32' ? [] : [this.folder, this.pathOf(place)];
    const modes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mode ?? 0));
    return modes.some((mode) => (mode & 0o077) !== 0);
  }

  /** The login of a place; undefined if its file cannot be read or contains none, or belongs to another user, whose account would then get the calls. */
  async read(place: LoginPlace): Promise<Login | undefined> {
    const path = this.pathOf(place);
    const { login, why, isPlain } = await this.#readFile(path, place);
    if (why !== undefined && !this.#named.has(path)) {
      this.#named.add(path);
      this.#options.logger?.warn(`logins: ${path} is not used, because ${why}; sign in again`);
    }
    // A failure, such as of a full disk, leaves the file as it was.
    if (login !== undefined && isPlain && this.#options.key !== undefined && !this.#held.has(path))
      await this.locked(place, () => this.#encrypt(path, place)).catch(() => {});
    return login;
  }

  /** The callers who have a login to a server, by the names of people. */
  async ownersAt(url: string): Promise<readonly LoginOwner[]> {
    const names = await readdir(this.folder).catch(() => []);
    const read = names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => {
        const { text = '' } = await readAccepted(join(this.folder, name), isOwn);
        const stored = storedIn(opened(text, name, this.#options.key)?.text);
        const { use } = stored;
        if (use === undefined || use === 'shared') return [];
        const place = { url, use };
        return stored.url === hrefOf(place) && name === nameOf(place) ? [use] : [];
      });
    const owners = (await Promise.all(read)).flat();
    return owners.sort((one, other) => (ownerName(one) < ownerName(other) ? -1 : 1));
  }

  /**
   * Runs a task while no other process writes this login. Rejects if the folder cannot be written, or `signal` aborts before the lock is free.
   */
  async locked<T>(place: LoginPlace, task: () => Promise<T>, signal = never()): Promise<T> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = this.pathOf(place);
    const lock = path.replace(/json$/, 'lock');
    while (!(await makeLock(lock))) {
      signal.throwIfAborted();
      if (!(await this.#removeOld(lock))) await this.#clock.sleep(POLL_MS, signal);
    }
    const ended = new AbortController();
    void this.#touch(lock, ended.signal);
    this.#held.add(path);
    try {
      return await task();
    } finally {
      this.#held.delete(path);
      ended.abort();
      await rm(lock, { force: true });
    }
  }

  /**
   * Removes the lock of a killed process; false if it may be that of another one. Only who has a second lock removes the first: of two who wait, one would
   * otherwise remove the lock that the other has just made.
   */
  async #removeOld(lock: string): Promise<boolean> {
    if (!(await this.#isOld(lock))) return false;
    const second = `${lock}.old`;
    if (!(await makeLock(second))) return this.#removeOld(second);
    try {
      const isOld = await this.#isOld(lock);
      if (isOld) await rm(lock, { force: true });
      return isOld;
    } finally {
      await rm(second, { force: true });
    }
  }

  async #isOld(lock: string): Promise<boolean> {
    const { mtimeMs } = (await stat(lock).catch(() => undefined)) ?? {};
    // The distance counts in both directions, because the clock may have been set back.
    return mtimeMs !== undefined && Math.abs(this.#clock.now().getTime() - mtimeMs) >= STALE_MS;
  }

  /** Replaces a login, or removes it if undefined. Only for a task with the lock. At any time, the file is the old or the new one. */
  async write(place: LoginPlace, login: Login | undefined): Promise<void> {
    const path = this.pathOf(place);
    // Temporary files that killed processes left.
    for (const name of await readdir(this.folder))
      if (name.startsWith(basename(path)) && name.endsWith('.tmp')) await rm(join(this.folder, name), { force: true });
    if (login === undefined) return rm(path, { force: true });
    const { key } = this.#options;
    const { use } = place;
    const owned = use === 'shared' ? login : { url: hrefOf(place), owner: use, ...login };
    const text = `${JSON.stringify(owned, undefined, 2)}\n`;
    await replaceFile(path, key === undefined ? text : sealed(text, basename(path), key), 0o600);
  }

  async #readFile(path: string, place: LoginPlace) {
    const { text, reason } = await readAccepted(path, isOwn);
    if (text === undefined) return { why: reason };
    const content = opened(text, basename(path), this.#options.key);
    if (content === undefined) return { why: DAMAGED };
    const { url, use, login } = storedIn(content.text);
    // The file may have been moved from another place.
    const isHere = use !== undefined && idOfUse(use) === idOfUse(place.use);
    if (!isHere || (use !== 'shared' && url !== hrefOf(place)) || !isLogin(login))
      return { why: 'it contains no login' };
    return { login, isPlain: content.isPlain };
  }

  /** Writes a file again, with the key. Another process may have done so in the meantime. */
  async #encrypt(path: string, place: LoginPlace): Promise<void> {
    const { login, isPlain } = await this.#readFile(path, place);
    if (isPlain) await this.write(place, login);
  }

  async #touch(lock: string, ended: AbortSignal): Promise<void> {
    do {
      const now = this.#clock.now();
      await utimes(lock, now, now).catch(() => {});
    } while ((await this.#clock.sleep(TOUCH_MS, ended)) === 'elapsed');
  }
}

const DAMAGED = 'it was encrypted with another gateway.logins_key, or for another file, or was changed';

function hrefOf({ url }: LoginPlace): string {
  return new URL(url).href;
}

function nameOf(place: LoginPlace): string {
  const { use } = place;
  const text = use === 'shared' ? hrefOf(place) : JSON.stringify([hrefOf(place), idOfUse(use)]);
  return `${createHash('sha256').update(text).digest('hex').slice(0, 32)}.json`;
}

/** What a file has: a login, and for whom it is. `use` is undefined if it cannot be read. */
function storedIn(text: string | undefined): {
  readonly url?: unknown;
  readonly use: LoginUse | undefined;
  readonly login: unknown;
} {
  const stored = parseJson(text ?? '');
  if (!isObject(stored)) return { login: stored, use: 'shared' };
  const { url, owner, ...login } = stored;
  return owner === undefined ? { login: stored, use: 'shared' } : { url, use: parseOwner(owner), login };
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
