import { err, ok, type Result } from 'neverthrow';
import OpenAI, { APIConnectionError, type ClientOptions } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { parseJson } from '../../../domain/values/json.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import type { ApiResponse } from './api-fetch.ts';
import { asObject } from './json-values.ts';
import { type RequestBody, SOURCES } from './request-body.ts';

/** Resolves with the response; rejects as the `openai` package does. May leave a listener on the signal for a moment. */
export interface ApiCall {
  (body: RequestBody, signal: AbortSignal): Promise<ApiResponse>;
  /** Continues the stream of a background response after an event (ruling A10). */
  readonly resume: (id: string, after: number, signal: AbortSignal) => Promise<ApiResponse>;
  /** Ends a background response. */
  readonly cancel: (id: string) => Promise<unknown>;
  /** A background response as it is now, with the sources of its searches (ruling K13). */
  readonly retrieve: (id: string, signal: AbortSignal) => Promise<ApiResponse>;
}

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

/** The `openai` package's client, which sends questions itself: the package needs more time for one than for everything else. */
class Client extends OpenAI {
  readonly #fetch: typeof fetch;
  /** URL and headers, which are the same for all questions. */
  #question: Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> | undefined;

  constructor(options: ClientOptions & { readonly fetch: typeof fetch }) {
    super(options);
    this.#fetch = options.fetch;
  }

  /** Rejects as the package does. */
  async create(body: RequestBody, signal: AbortSignal): Promise<ApiResponse> {
    this.#question ??= this.buildRequest({ method: 'post', path: '/responses', body, stream: true }).then(
      ({ req, url }) => ({ url, headers: Object.fromEntries(req.headers) }),
    );
    const { url, headers } = await this.#question;
    const response = await this.#fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal }).catch(
      (cause: Error) => Promise.reject(new APIConnectionError({ cause })),
    );
    if (response.ok) return response;
    const text = await response.text().catch((error: Error) => error.message);
    const error = asObject(parseJson(text));
    throw this.makeStatusError(
      response.status,
      error as object,
      error === undefined ? text : undefined,
      response.headers,
    );
  }
}

/** The `openai` package's client without its retries, timer and log (ruling 12). */
export function createApiCall(apiKey: string, options: Omit<NetworkOptions, 'apiKey' | 'apiKeyVariable'>): ApiCall {
  const { baseUrl, organization, project, fetch = globalThis.fetch } = options;
  const client = new Client({
    apiKey,
    baseURL: baseUrl,
    organization: organization ?? null,
    project: project ?? null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    // The default logger writes to standard output, which is reserved for MCP.
    logLevel: 'off',
    fetch,
  });
  return Object.assign((body: RequestBody, signal: AbortSignal) => client.create(body, signal), {
    resume: (id: string, after: number, signal: AbortSignal) =>
      client.responses.retrieve(id, { stream: true, starting_after: after }, { signal }).asResponse(),
    // Asynchronous, because the package throws for an ID that is no part of a path.
    cancel: async (id: string) => client.responses.cancel(id),
    retrieve: (id: string, signal: AbortSignal) =>
      client.responses.retrieve(id, { include: [SOURCES] }, { signal }).asResponse(),
  });
}

/** Requests over the network. Without a usable key the calls fail, not the start: clients list tools without a key. */
export function networkCalls(options: NetworkOptions): () => Result<ApiCall, SearchError> {
  const { apiKey = '', apiKeyVariable: variable } = options;
  const kind = keyProblem(options.apiKey);
  const call: Result<ApiCall, SearchError> =
    kind === undefined ? ok(createApiCall(apiKey, options)) : err({ kind, variable });
  return () => call;
}
