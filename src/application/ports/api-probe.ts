import type { Result } from 'neverthrow';
import type { SearchError } from '../../domain/answer-error.ts';

/** Looks whether the API can be used, without asking it anything. The promises never reject. */
export interface ApiProbe {
  /** Where requests go, and by which way: `api.openai.com, directly`. */
  readonly route: string;

  /** Reaches the base URL: name, connection, TLS, proxy. Any HTTP status will do, and is given back. */
  reach(signal: AbortSignal): Promise<Result<number, SearchError>>;

  /** Whether the key may use a model; `unknown` where the server does not list models. */
  findModel(model: string, signal: AbortSignal): Promise<Result<'found' | 'unknown', SearchError>>;
}
