import { err, ok, type Result } from 'neverthrow';
import type { SearchError } from '../../../domain/answer-error.ts';
import { isSendableKey } from '../../../domain/redaction.ts';
import { type ApiCall, type ApiClientOptions, createApiCall } from './api-client.ts';

export interface NetworkOptions extends Omit<ApiClientOptions, 'apiKey'> {
  readonly apiKey?: string;
  readonly apiKeyVariable: string;
}

/** The way to the API over the network. A missing key fails the call, not the start: clients list tools without one. */
export function networkCalls({
  apiKey,
  apiKeyVariable,
  ...client
}: NetworkOptions): () => Result<ApiCall, SearchError> {
  if (apiKey === undefined) return () => err({ kind: 'no_api_key', variable: apiKeyVariable });
  if (!isSendableKey(apiKey)) return () => err({ kind: 'malformed_api_key', variable: apiKeyVariable });
  const call = ok<ApiCall, SearchError>(createApiCall({ ...client, apiKey }));
  return () => call;
}
