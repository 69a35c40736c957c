import { err, ok, type Result } from 'neverthrow';
import type { ApiProbe } from '../../../application/ports/api-probe.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import { isSendableKey } from '../../../domain/redaction.ts';
import type { FailureContext } from './failure.ts';
import { toConnectionFailure, toFailure } from './failure.ts';
import { asObject, parseJson } from './json.ts';
import type { ProxyOptions } from './proxy-fetch.ts';
import { proxyFor } from './proxy-route.ts';

export interface OpenAiProbeOptions {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly apiKeyVariable: string;
  readonly organization?: string;
  readonly project?: string;
  readonly proxies?: ProxyOptions;
  readonly fetch: typeof fetch;
  /** Takes keys out of what the API said. */
  readonly redact: (text: string) => string;
}

/** Looks at the API's list of models, which costs nothing. */
export class OpenAiProbe implements ApiProbe {
  readonly route: string;
  readonly #options: OpenAiProbeOptions;

  constructor(options: OpenAiProbeOptions) {
    this.#options = options;
    const { host } = new URL(options.baseUrl);
    const proxy = proxyFor(options.baseUrl, options.proxies ?? {});
    this.route = proxy === undefined ? host : `${host}, by the proxy ${proxy},`;
  }

  async reach(signal: AbortSignal): Promise<Result<number, SearchError>> {
    const response = await this.#get('models', signal, {});
    return response.map(({ status }) => status);
  }

  async findModel(model: string, signal: AbortSignal): Promise<Result<'found' | 'unknown', SearchError>> {
    const { apiKey = '', apiKeyVariable, organization, project } = this.#options;
    if (!isSendableKey(apiKey)) return err({ kind: 'malformed_api_key', variable: apiKeyVariable });
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(organization === undefined ? {} : { 'openai-organization': organization }),
      ...(project === undefined ? {} : { 'openai-project': project }),
    };
    const response = await this.#get(`models/${encodeURIComponent(model)}`, signal, headers);
    return response.andThen(({ status, body }) => {
      if (status < 400) return ok<'found' | 'unknown', SearchError>('found');
      const error = asObject(asObject(parseJson(body))?.error);
      const failure = toFailure({ status, error: error ?? {}, name: 'APIError' }, this.#context(model)).error;
      // A server without a list of models says 404 of the path, not of the model.
      const isUnknown = status === 404 && failure.kind !== 'model_not_found';
      return isUnknown
        ? ok<'found' | 'unknown', SearchError>('unknown')
        : err<'found' | 'unknown', SearchError>(failure);
    });
  }

  async #get(
    path: string,
    signal: AbortSignal,
    headers: Record<string, string>,
  ): Promise<Result<{ readonly status: number; readonly body: string }, SearchError>> {
    const { baseUrl, fetch } = this.#options;
    try {
      const response = await fetch(`${baseUrl}/${path}`, { headers, signal });
      return ok({ status: response.status, body: await response.text() });
    } catch (thrown) {
      return signal.aborted ? err({ kind: 'aborted' }) : err(toConnectionFailure(thrown, this.#context('')).error);
    }
  }

  #context(model: string): FailureContext {
    const { apiKeyVariable, redact } = this.#options;
    return { model, apiKeyVariable, host: this.route, attempt: 1, redact };
  }
}
