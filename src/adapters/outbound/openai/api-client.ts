import { err, ok, type Result } from 'neverthrow';
import OpenAI from 'openai';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
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
 * The `openai` package's client without its retries, timer and log. All methods reject as in the package, and may leave a listener on a signal
 * for a moment.
 */
export class ApiClient {
  readonly #openai: OpenAI;

  constructor(options: Omit<NetworkOptions, 'apiKeyVariable'>) {
    const { apiKey = '', baseUrl, organization = null, project = null, fetch = globalThis.fetch } = options;
    // The default logger writes to standard output, which is reserved for MCP.
    const quiet = { maxRetries: 0, timeout: NO_TIMEOUT_MS, logLevel: 'off' } as const;
    this.#openai = new OpenAI({ apiKey, baseURL: baseUrl, organization, project, fetch, ...quiet });
  }

  ask(body: RequestBody, signal: AbortSignal): Promise<Response> {
    // The types of the package lack parts of the API.
    return this.#openai.responses.create(body as unknown as ResponseCreateParamsStreaming, { signal }).asResponse();
  }

  /** Cancels a background response. Asynchronous, because the package throws for an ID that cannot be a part of a path. */
  async cancel(id: string): Promise<unknown> {
    return this.#openai.responses.cancel(id);
  }

  /** The current state of a background response, with the sources of its searches. */
  async retrieve(id: string, signal: AbortSignal): Promise<Response> {
    return this.#openai.responses.retrieve(id, { include: [SOURCES] }, { signal }).asResponse();
  }
}

/** The client for requests over the network. Without a usable key, calls fail, not the start, because clients list tools without a key. */
export function networkCalls(options: NetworkOptions): () => Result<ApiClient, SearchError> {
  const kind = keyProblem(options.apiKey);
  const client: Result<ApiClient, SearchError> =
    kind === undefined ? ok(new ApiClient(options)) : err({ kind, variable: options.apiKeyVariable });
  return () => client;
}
