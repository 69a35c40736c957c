import { err, ok, type Result } from 'neverthrow';
import OpenAI, { type ClientOptions } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import type { ApiResponse } from './api-fetch.ts';
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

type BuildRequest = OpenAI['buildRequest'];

/** Builds URL and headers of questions once: they are the same for all, and the package needs more time for them than for sending a request. */
class Client extends OpenAI {
  #known: { readonly headers: Headers; readonly url: string } | undefined;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions & { readonly fetch: typeof fetch }) {
    super(options);
    this.#fetch = options.fetch;
  }

  override async buildRequest(...[options, context]: Parameters<BuildRequest>): ReturnType<BuildRequest> {
    const { method, body, signal = null } = options;
    if (body === undefined) return super.buildRequest(options, context);
    if (this.#known === undefined) {
      const { req, url } = await super.buildRequest(options, context);
      this.#known = { headers: req.headers, url };
    }
    const { headers, url } = this.#known;
    return { req: { method, headers, body: JSON.stringify(body), signal }, url, timeout: NO_TIMEOUT_MS };
  }

  /** Without the package's timer, and its own signal. */
  override fetchWithTimeout(...[url, init]: Parameters<OpenAI['fetchWithTimeout']>): Promise<Response> {
    return this.#fetch(url, { ...init, method: init?.method?.toUpperCase() ?? 'GET' });
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
  const create = (body: RequestBody, signal: AbortSignal) =>
    client.post('/responses', { body, signal, stream: true }).asResponse();
  return Object.assign(create, {
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
