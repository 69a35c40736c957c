import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { isObject, parseJson } from '../../../domain/values/json.ts';
import { isSendableKey } from '../../../domain/values/redaction.ts';
import { replaceFile } from '../files/replace-file.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { loginPath } from './login-path.ts';

/** The parts of an issuer's metadata (RFC 8414) that are used, under their names there. */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly client_id_metadata_document_supported?: boolean;
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** A client of an issuer, under the names of RFC 7591. */
export interface OAuthClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
}

/** What one sign-in leaves on disk (ruling O15). Times are milliseconds since 1970. */
export interface Login {
  /** Of the server, as `new URL(url).href`. */
  readonly url: string;
  /** Another one for each sign-in; renewals keep it. */
  readonly id: string;
  readonly metadata: IssuerMetadata;
  /** Without a secret that is configured. */
  readonly client: OAuthClient;
  /** That of a client which was registered for this login. */
  readonly redirectUri?: string | undefined;
  /** Undefined if none is sent. */
  readonly resource?: string | undefined;
  readonly scopes: readonly string[];
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly receivedAt: number;
  /** Undefined: until a 401. */
  readonly expiresAt?: number | undefined;
}

/** Replaces a login; undefined removes it. `replaced` is the login that was read before. */
export type SaveLogin = (login: Login | undefined, replaced?: Login) => Promise<void>;

/** How old a lock is that a process left which was killed. A renewal takes at most 8 s. */
const STALE_MS = 10_000;
const POLL_MS = 50;

/** The logins of the servers, one file for each, which only its owner can read (rulings O15 and O18). */
export class LoginFiles {
  readonly folder: string;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #warned = new Set<string>();

  constructor(folder: string, clock: Clock, logger: Pick<Logger, 'warn'>) {
    this.folder = folder;
    this.#clock = clock;
    this.#logger = logger;
  }

  pathOf(url: string): string {
    return loginPath(this.folder, url);
  }

  /** Whether other users of this machine have access to a login, or to the folder. Files on Windows have no such modes. */
  async isShared(url: string): Promise<boolean> {
    const paths = process.platform === 'win32' ? [] : [this.folder, this.pathOf(url)];
    const modes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mode ?? 0));
    return modes.some((mode) => (mode & 0o077) !== 0);
  }

  /** The login of a server; none if the file is not one, with a warning. */
  async read(url: string): Promise<Login | undefined> {
    const path = this.pathOf(url);
    const text = await textOf(path);
    if (text === undefined) return undefined;
    const login = parseJson(text);
    if (isLogin(login)) return login;
    if (!this.#warned.has(path)) this.#logger.warn(`gateway: ${path} is not a login, and is not used`);
    this.#warned.add(path);
    return undefined;
  }

  /**
   * Runs a task while no other process writes the login of this server. `save` replaces it at once: after an end at any time, the file is the
   * old or the new one. If this process was suspended for so long that another one has the lock now, `save` writes only over `replaced`, if
   * that is still the login. Rejects if the folder cannot be written, or `signal` aborts before the lock is free.
   */
  async locked<T>(url: string, task: (save: SaveLogin) => Promise<T>, signal = never()): Promise<T> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const lock = `${this.#baseOf(url)}.lock`;
    const id = randomUUID();
    for (;;) {
      signal.throwIfAborted();
      const isTaken = await writeFile(lock, id, { flag: 'wx', mode: 0o600 }).then(
        () => false,
        (error: NodeJS.ErrnoException) => (error.code === 'EEXIST' ? true : Promise.reject(error)),
      );
      if (!isTaken) break;
      if (!(await this.#takeStale(lock))) await this.#clock.sleep(POLL_MS, signal);
    }
    try {
      return await task(async (login, replaced) => {
        const isSame = async () => (await this.read(url))?.accessToken === replaced?.accessToken;
        if ((await textOf(lock)) === id || (replaced !== undefined && (await isSame()))) await this.#save(url, login);
        else throw new Error('another process has the lock');
      });
    } finally {
      if ((await textOf(lock)) === id) await rm(lock, { force: true });
    }
  }

  /** Removes the lock of a process that was killed. The file is renamed first: only one process can do that. */
  async #takeStale(lock: string): Promise<boolean> {
    const seen = await stat(lock).catch(() => undefined);
    if (seen === undefined) return true;
    // The clock may have been set back.
    if (Math.abs(this.#clock.now().getTime() - seen.mtimeMs) < STALE_MS) return false;
    const taken = `${lock}.${randomUUID()}.tmp`;
    const isRenamed = await rename(lock, taken).then(
      () => true,
      () => false,
    );
    // Meanwhile, another process may have removed the old lock, and made this one.
    if (isRenamed && (await stat(taken)).ino !== seen.ino) await link(taken, lock).catch(() => {});
    await rm(taken, { force: true });
    return isRenamed;
  }

  async #save(url: string, login: Login | undefined): Promise<void> {
    const path = this.pathOf(url);
    const own = basename(this.#baseOf(url));
    // What a killed process left.
    for (const name of await readdir(this.folder))
      if (name.startsWith(own) && name.endsWith('.tmp')) await rm(join(this.folder, name), { force: true });
    if (login === undefined) return rm(path, { force: true });
    await replaceFile(path, `${JSON.stringify(login, undefined, 2)}\n`, 0o600);
  }

  #baseOf(url: string): string {
    return this.pathOf(url).replace(/\.json$/, '');
  }
}

/** A person may have changed the file. */
function isLogin(value: unknown): value is Login {
  if (!isObject(value) || !isObject(value.metadata) || !isObject(value.client)) return false;
  const { url, id, accessToken, refreshToken = 'none', scopes, receivedAt, expiresAt = 0, client, metadata } = value;
  const { issuer, token_endpoint: endpoint, revocation_endpoint: revocation = endpoint } = metadata;
  return (
    [url, id, issuer, client.client_id].every((text) => typeof text === 'string') &&
    [accessToken, refreshToken].every((token) => typeof token === 'string' && isSendableKey(token)) &&
    [endpoint, revocation].every((url) => typeof url === 'string' && isSecureUrl(url)) &&
    Array.isArray(scopes) &&
    scopes.every((scope) => typeof scope === 'string') &&
    [receivedAt, expiresAt].every((time) => typeof time === 'number' && !Number.isNaN(new Date(time).getTime()))
  );
}

function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
