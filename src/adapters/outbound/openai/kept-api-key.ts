import { err, ok, type Result } from 'neverthrow';
import { never } from '../../../application/async/deadline.ts';
import type { Logger } from '../../../application/ports/services.ts';
import type { ValueReference } from '../../../application/ports/values.ts';
import type { KeptValue, KeptValues } from '../../../application/values/kept-values.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { bareKey } from '../../../domain/values/redaction.ts';
import type { ApiFetch } from './api-fetch.ts';

interface KeptApiKeyOptions {
  /** The variable that names the file or the command. */
  readonly variable: string;
  readonly source: ValueReference;
  readonly values: KeptValues;
  readonly logger: Logger;
}

/** The API key of a file or a command, which may change while the program runs. It is read when it is first needed. */
export class KeptApiKey {
  readonly #options: KeptApiKeyOptions;
  #kept: KeptValue | undefined;
  /** The key, and the one before. */
  #keys: readonly string[] = [];
  #isNoticed = false;

  constructor(options: KeptApiKeyOptions) {
    this.#options = options;
  }

  /** The key that was last read, and the one before, with which handles were signed. */
  get known(): readonly string[] {
    return this.#keys;
  }

  async read(signal: AbortSignal): Promise<Result<string, SearchError>> {
    const { values, source, variable } = this.#options;
    const read = await values.read(source, signal);
    if (read.isOk()) return ok(this.#keep(read.value));
    const failure = read.error;
    return err(failure.kind === 'aborted' ? failure : { kind: 'unread_api_key', variable, failure });
  }

  /** Another key than the one that the API refused; undefined if there is none. */
  async renew(refused: string, signal: AbortSignal): Promise<string | undefined> {
    const { values, source } = this.#options;
    const [known] = this.#keys;
    if (known !== undefined && known !== refused) return known;
    const read = await values.renew(source, this.#kept, signal);
    const key = read.isOk() ? this.#keep(read.value) : refused;
    return key === refused ? undefined : key;
  }

  /** A `fetch` that sends the current key and, after a 401, reads the key once more, and sends the request once more if it has changed. */
  fetchWith(fetch: ApiFetch): ApiFetch {
    return async (url, request = {}) => {
      const [key] = this.#keys;
      const headers = new Headers(request.headers);
      if (key === undefined || !headers.has('authorization')) return fetch(url, request);
      const send = (key: string) => {
        headers.set('authorization', `Bearer ${key}`);
        return fetch(url, { ...request, headers: Object.fromEntries(headers) });
      };
      const response = await send(key);
      // A 401 refuses a request, so that no answer is paid twice.
      const renewed = response.status === 401 ? await this.renew(key, request.signal ?? never()) : undefined;
      if (renewed === undefined) return response;
      void response.text().catch(() => {});
      return send(renewed);
    };
  }

  #keep(kept: KeptValue): string {
    const { variable, logger } = this.#options;
    const text = kept.text.trim();
    const key = bareKey(text);
    if (key !== text && !this.#isNoticed) {
      this.#isNoticed = true;
      logger.warn(`${variable}: the key has quotation marks around it, which are not sent; remove them`);
    }
    if (kept !== this.#kept && key !== this.#keys[0]) this.#keys = [key, ...this.#keys.slice(0, 1)];
    this.#kept = kept;
    return key;
  }
}
