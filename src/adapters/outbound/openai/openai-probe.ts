import { err, ok, type Result } from 'neverthrow';
import type { ApiProbe, FoundModel } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answers/answer-error.ts';
import { asObject, asText, parseJson, withoutUndefined } from '../../../domain/values/json.ts';
import type { NetworkOptions } from './api-client.ts';
import type { ApiFetch } from './api-fetch.ts';
import { excerpt, type FailureContext, toFailure, toThrownFailure } from './failure.ts';

export interface OpenAiProbeOptions extends NetworkOptions, Omit<FailureContext, 'model' | 'attempt'> {
  readonly fetch: ApiFetch;
}

/** Reads the API's list of models, which costs nothing. */
export class OpenAiProbe implements ApiProbe {
  readonly route: string;
  readonly #options: OpenAiProbeOptions;

  constructor(options: OpenAiProbeOptions) {
    this.#options = options;
    this.route = options.route;
  }

  async reach(signal: AbortSignal): Promise<Result<number, SearchError>> {
    return (await this.#get('models', {}, signal)).map(({ status }) => status);
  }

  async findModel(model: string, signal: AbortSignal): Promise<Result<FoundModel, SearchError>> {
    const { keptKey, organization, project } = this.#options;
    const key = keptKey && (await keptKey.read(signal));
    if (key?.isErr()) return err(key.error);
    const apiKey = key?.isOk() ? key.value : (this.#options.apiKey ?? '');
    const account = withoutUndefined({ 'openai-organization': organization, 'openai-project': project });
    const headers = { authorization: `Bearer ${apiKey}`, ...account };
    const response = await this.#get(`models/${encodeURIComponent(model)}`, headers, signal);
    return response.andThen(({ status, headers, body }): Result<FoundModel, SearchError> => {
      const json = asObject(parseJson(body));
      if (status < 400 && json !== undefined) {
        const shutsDownOn = /^\d{4}-\d{2}-\d{2}/.exec(asText(json.shutdown_date) ?? '')?.[0];
        return ok(shutsDownOn === undefined ? 'found' : { shutsDownOn });
      }
      if (status < 400)
        return err({ kind: 'unreadable_reply', detail: excerpt(body, this.#options) || 'an empty body' });
      const places = { status, headers, body, now: new Date(0), name: 'APIError' };
      const failure = toFailure(places, this.#context(model)).error;
      // A server without a list of models answers 404 for the path, not for the model.
      return status === 404 && failure.kind !== 'model_not_found' ? ok('unknown') : err(failure);
    });
  }

  async #get(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<Result<{ readonly status: number; readonly headers: Headers; readonly body: string }, SearchError>> {
    const { baseUrl, fetch } = this.#options;
    try {
      const response = await fetch(`${baseUrl}/${path}`, { headers, signal });
      return ok({ status: response.status, headers: response.headers, body: await response.text() });
    } catch (thrown) {
      return signal.aborted ? err({ kind: 'aborted' }) : err(toThrownFailure(thrown, this.#context('')).error);
    }
  }

  #context(model: string): FailureContext {
    return { ...this.#options, model, attempt: 1 };
  }
}
