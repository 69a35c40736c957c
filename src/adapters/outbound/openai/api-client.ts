import OpenAI from 'openai';
import type { RequestBody } from './request-body.ts';

/**
 * One request to the API, answered by its HTTP response; throws what the `openai` package throws. It leaves a listener on the
 * signal: give each call one of its own.
 */
export type ApiCall = (body: RequestBody, signal: AbortSignal) => Promise<Response>;

export interface ApiClientOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly organization?: string;
  readonly project?: string;
  readonly fetch?: typeof fetch;
}

/** The package clears its timer when headers arrive; the bound of a whole call is ours, by signal. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The `openai` package's client, without retries, timer and log of its own: those are this project's (ruling 12). */
export function createApiCall({ apiKey, baseUrl, organization, project, fetch }: ApiClientOptions): ApiCall {
  const client = new OpenAI({
    apiKey,
    baseURL: baseUrl,
    organization: organization ?? null,
    project: project ?? null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    // Its default logger writes to standard output, which belongs to MCP.
    logLevel: 'off',
    ...(fetch === undefined ? {} : { fetch }),
  });
  return (body, signal) => client.responses.create(body, { signal }).asResponse();
}
