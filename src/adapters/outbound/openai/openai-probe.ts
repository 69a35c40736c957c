import { err, ok, type Result } from 'neverthrow';
import type { ApiProbe } from '../../../application/ports/api-probe.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { FailureContext } from './failure.ts';
import { toConnectionFailure, toFailure } from './failure.ts';
import { asObject, parseJson } from './json.ts';

export interface OpenAiProbeOptions {
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly apiKeyVariable: string;
  /** Present where a proxy stands in between. */
  readonly proxies?: object;
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
    this.route = `${new URL(options.baseUrl).host}${options.proxies !== undefined ? ', by the proxy of the environment,' : ''}`;
  }

  async reach(signal: AbortSignal): Promise<Result<number, SearchError>> {
    const response = await this.#get('models', signal, {});
    return response.map(({ status }) => status);
  }

  async findModel(model: string, signal: AbortSignal): Promise<Result<'found' | 'unknown', SearchError>> {
    const { apiKey } = this.#options;
    const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
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
    const { baseUrl, apiKeyVariable, redact } = this.#options;
    return { model, apiKeyVariable, host: new URL(baseUrl).host, attempt: 1, redact };
  }
}
