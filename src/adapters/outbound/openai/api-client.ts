import { err, ok, type Result } from 'neverthrow';
import OpenAI, { APIConnectionError, APIError } from 'openai';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import type { ApiFetch, ApiResponse } from './api-fetch.ts';
import type { KeptApiKey } from './kept-api-key.ts';
import { type RequestBody, SOURCES } from './request-body.ts';

export interface NetworkOptions {
  readonly apiKey?: string;
  readonly apiKeyVariable: string;
  readonly baseUrl: string;
  readonly organization?: string;
  readonly project?: string;
  readonly fetch?: ApiFetch;
  /** The key, if it is in a file or printed by a command. `fetch` then sends it. */
  readonly keptKey?: Pick<KeptApiKey, 'read'> | undefined;
}

/** The client for a request. */
export type ClientFor = (
  signal: AbortSignal,
) => Result<ApiClient, SearchError> | Promise<Result<ApiClient, SearchError>>;

/** The package stops its timer when the headers arrive; the time limit of a call is enforced with the signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The `openai` package's client without its retries, timer and log. All methods reject as in the package, but with the complete body of a refusal as `error`.
 */
export class ApiClient {
  readonly #openai: OpenAI;
  readonly #fetch: ApiFetch;
  /** The URL and the headers of questions, which are the same for all. */
  #question: Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> | undefined;

  constructor(options: Omit<NetworkOptions, 'apiKeyVariable'>) {
    const { apiKey = '', baseUrl, organization = null, project = null, fetch = globalThis.fetch } = options;
    this.#fetch = fetch;
    // The default logger writes to standard output, which is reserved for MCP.
    const quiet = { maxRetries: 0, timeout: NO_TIMEOUT_MS, logLevel: 'off' } as const;
    // The package reads no more of a response than an `ApiResponse` has.
    const ofPackage = { ...quiet, fetch: fetch as unknown as typeof globalThis.fetch };
    this.#openai = new OpenAI({ apiKey, baseURL: baseUrl, organization, project, ...ofPackage });
  }

  /** Sends a question as the package does, whose own method makes the URL, the headers and a timer again for each. */
  async ask(body: RequestBody, signal: AbortSignal): Promise<ApiResponse> {
    this.#question ??= this.#toQuestion();
    const { url, headers } = await this.#question;
    return this.#send(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  }

  /** Cancels a background response. Asynchronous, because the package throws for an ID that cannot be a part of a path. */
  async cancel(id: string): Promise<unknown> {
    return (await this.#openai.responses.cancel(id).asResponse()).text();
  }

  /** The current state of a background response, with the sources of its searches. */
  async retrieve(id: string, signal: AbortSignal): Promise<ApiResponse> {
    const path = `/responses/${encodeURIComponent(id)}`;
    const { url, req } = await this.#openai.buildRequest({ method: 'get', path, query: { include: [SOURCES] } });
    return this.#send(url, { headers: Object.fromEntries(req.headers), signal });
  }

  async #toQuestion() {
    const { url, req } = await this.#openai.buildRequest({
      method: 'post',
      path: '/responses',
      body: {},
      stream: true,
    });
    return { url, headers: Object.fromEntries(req.headers) };
  }

  async #send(...request: Parameters<ApiFetch>): Promise<ApiResponse> {
    const response = await this.#fetch(...request).catch((cause) => {
      throw new APIConnectionError({ cause });
    });
    if (response.ok) return response;
    // The status is the error, even if its body breaks off. The package would keep no more of the body than its member `error`.
    const text = await response.text().catch(String);
    throw APIError.generate(response.status, { error: text }, text, response.headers);
  }
}

/** The client for requests over the network. Without a usable key, calls fail, not the start, because clients list tools without a key. */
export function networkCalls(options: NetworkOptions): ClientFor {
  const { keptKey } = options;
  const clientWith = (apiKey: string | undefined): Result<ApiClient, SearchError> => {
    const kind = keyProblem(apiKey);
    return kind === undefined
      ? ok(new ApiClient(withoutUndefined({ ...options, apiKey })))
      : err({ kind, variable: options.apiKeyVariable });
  };
  if (keptKey === undefined) {
    const client = clientWith(options.apiKey);
    return () => client;
  }
  let client: Result<ApiClient, SearchError> | undefined;
  return async (signal) => {
    const key = await keptKey.read(signal);
    if (key.isErr()) return err(key.error);
    // The first key is replaced by `fetch` in each request.
    if (client === undefined || client.isErr()) client = clientWith(key.value);
    return client;
  };
}
