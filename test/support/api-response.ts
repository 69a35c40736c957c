import { createHash } from 'node:crypto';
import type { ConversationItem } from './conversation-items.ts';

export type JsonObject = Record<string, unknown>;

/** The parts of a request that its response depends on; `number` makes IDs that differ from request to request. */
export interface AskedRequest {
  readonly body: JsonObject;
  readonly number: number;
}

/** A response of the fake model. */
export interface ScriptedResponse {
  readonly items: readonly ConversationItem[];
  /** Why the response is incomplete. */
  readonly incomplete?: 'max_output_tokens' | undefined;
  /** The number of deltas of a text, at most one per code point. Default: 4. */
  readonly chunks?: number | undefined;
  /** One JSON body, even if a stream was requested. */
  readonly isJson?: true;
  /** The terminal event of the stream has no items, as from some servers. */
  readonly endsEmpty?: true;
}

/** The Response object that ends a stream, or is the complete body without one. The recorded replies have all of its keys. */
export function responseBody({ items, incomplete }: ScriptedResponse, request: AskedRequest) {
  return {
    ...unfinishedResponse(request),
    status: incomplete === undefined ? 'completed' : 'incomplete',
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    output: items.map((item) => asRequested(item, request)),
    service_tier: 'default',
    usage: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 400 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 1050,
    },
  };
}

/** The Response object as it begins. */
export function unfinishedResponse({ body, number }: AskedRequest) {
  return {
    id: apiId('resp', number),
    object: 'response',
    created_at: CREATED_AT,
    status: 'in_progress',
    background: body.background ?? false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    model: body.model ?? 'gpt-5.2-2025-12-11',
    output: [],
    usage: null,
  };
}

/** An ID in the form of the API: a prefix and 50 hex digits, always the same for the same arguments. */
export function apiId(prefix: string, ...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256')
    .update([prefix, ...parts].join(' '))
    .digest('hex');
  return `${prefix}_${digest.slice(0, 50)}`;
}

/** When each response was created, in seconds: on 2026-01-19 in Tokyo. */
const CREATED_AT = 1_768_775_269;

/** The API returns the sources of searches and encrypted reasoning only if `include` asks for them. */
function asRequested(item: ConversationItem, { body }: AskedRequest): ConversationItem {
  const include = Array.isArray(body.include) ? body.include : [];
  if (item.type === 'reasoning' && !include.includes('reasoning.encrypted_content')) {
    const { encrypted_content: _, ...rest } = item;
    return { ...rest, id: item.id, type: item.type };
  }
  if (item.type !== 'web_search_call' || include.includes('web_search_call.action.sources')) return item;
  const { sources: _, ...action } = item.action as JsonObject;
  return { ...item, action };
}
