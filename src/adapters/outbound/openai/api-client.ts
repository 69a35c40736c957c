import { err, ok, type Result } from 'neverthrow';
import OpenAI, { APIConnectionError } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { parseJson } from '../../../domain/values/json.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import type { ApiResponse } from './api-fetch.ts';
import { asObject } from './json-values.ts';
import { type RequestBody, SOURCES } from './request-body.ts';

export interface NetworkOptions {
  readonly apiKey?: string;
  readonly apiKeyVariable: string;
  readonly baseUrl: string;
  readonly organization?: string;
  readonly project?: string;
  readonly fetch?: typeof fetch;
}

/** The package stops its timer when the headers arrive; the time limit of a call is enforced with the signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The `openai` package's client without its retries, timer and log (ruling 12). All rejects as in the package, and may leave a listener on a
 * signal for a moment.
 */
export class ApiClient extends OpenAI {
  readonly #fetch: typeof fetch;
  /** URL and headers, which are the same for all questions. */
  #question: Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> | undefined;

  constructor(options: Omit<NetworkOptions, 'apiKeyVariable'>) {
    const { apiKey = '', baseUrl, organization = null, project = null, fetch = globalThis.fetch } = options;
    // The default logger writes to standard output, which is reserved for MCP.
    const quiet = { maxRetries: 0, timeout: NO_TIMEOUT_MS, logLevel: 'off' } as const;
    super({ apiKey, baseURL: baseUrl, organization, project, fetch, ...quiet });
    this.#fetch = fetch;
  }

  /** Sends a question itself: the package needs more time for one than for everything else. */
  async ask(body: RequestBody, signal: AbortSignal): Promise<ApiResponse> {
    const headers = { 'content-type': 'application/json' };
    this.#question ??= this.buildRequest({ method: 'post', path: '/responses', headers, stream: true }).then(
      ({ req, url }) => ({ url, headers: Object.fromEntries(req.headers) }),
    );
    const { url, ...request } = await this.#question;
    const response = await this.#fetch(url, { method: 'POST', ...request, body: JSON.stringify(body), signal }).catch(
      (cause: Error) => Promise.reject(new APIConnectionError({ cause })),
    );
    if (response.ok) return response;
    const text = await response.text().catch((error: Error) => error.message);
    const error = asObject(parseJson(text));
    const message = error === undefined ? text : undefined;
    throw this.makeStatusError(response.status, error as object, message, response.headers);
  }

  /** Continues the stream of a background response after an event (ruling A10). */
  resume(id: string, after: number, signal: AbortSignal): Promise<ApiResponse> {
    return this.responses.retrieve(id, { stream: true, starting_after: after }, { signal }).asResponse();
  }

  /** Ends a background response. Asynchronous, because the package throws for an ID that is no part of a path. */
  async cancel(id: string): Promise<unknown> {
    return this.responses.cancel(id);
  }

  /** A background response as it is now, with the sources of its searches (ruling K13). */
  retrieve(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.responses.retrieve(id, { include: [SOURCES] }, { signal }).asResponse();
  }
}

/** Requests over the network. Without a usable key the calls fail, not the start: clients list tools without a key. */
export function networkCalls(options: NetworkOptions): () => Result<ApiClient, SearchError> {
  const kind = keyProblem(options.apiKey);
  const client: Result<ApiClient, SearchError> =
    kind === undefined ? ok(new ApiClient(options)) : err({ kind, variable: options.apiKeyVariable });
  return () => client;
}
