import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';

export type FoundModel = 'found' | 'unknown' | { readonly shutsDownOn: string };

/** Checks whether the API can be used, without asking a question. The promises never reject. */
export interface ApiProbe {
  /** The API's host, and the proxy on the way to it: `api.openai.com via the proxy 10.0.0.1:8080`. */
  readonly route: string;

  /** Connects to the base URL: name, connection, TLS, proxy. Resolves with the HTTP status, whatever it is. */
  reach(signal: AbortSignal): Promise<Result<number, SearchError>>;

  /** Whether the key may use a model, and until when (`YYYY-MM-DD`); `unknown` if the server does not list models. */
  findModel(model: string, signal: AbortSignal): Promise<Result<FoundModel, SearchError>>;
}
