import { type AskedRequest, type JsonObject, unfinishedResponse } from './api-response.ts';
import { type ApiEvent, itemEvents, numbered, openingEvents } from './api-stream.ts';
import type { ConversationItem, FunctionCallItem, ReasoningItem } from './conversation-items.ts';

/** A response of a scripted conversation. */
export interface ScriptedResponse {
  readonly items: readonly ConversationItem[];
  /** Why the response is incomplete. */
  readonly incomplete?: 'max_output_tokens';
  /** One JSON body, even if a stream was requested. */
  readonly isJson?: true;
  /** The terminal event of the stream has no items, as from some servers. */
  readonly endsEmpty?: true;
}

/** The Response object of a scripted response. */
export function scriptedBody({ items, incomplete }: ScriptedResponse, request: AskedRequest): JsonObject {
  return {
    ...unfinishedResponse(request),
    status: incomplete === undefined ? 'completed' : 'incomplete',
    completed_at: incomplete === undefined ? 1_768_775_276 : null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    output: items.map((item) => asRequested(item, request)),
    usage: {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 400 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 1050,
    },
  };
}

/** Every event of the stream of a scripted response, in the order and shape of recordings. */
export function scriptedEvents(script: ScriptedResponse, request: AskedRequest): ApiEvent[] {
  const response = scriptedBody(script, request);
  const output =
    script.endsEmpty === true ? [] : script.items.map((item) => encryptedAgain(asRequested(item, request)));
  return numbered([
    ...openingEvents(request),
    ...script.items.flatMap((item, index) => eventsOf(asRequested(item, request), index)),
    { type: `response.${String(response.status)}`, response: { ...response, output } },
  ]);
}

/** In recorded streams, the encrypted content of the terminal event is not that of the item's own event. */
function encryptedAgain(item: ConversationItem): ConversationItem {
  if (item.type !== 'reasoning' || item.encrypted_content === undefined) return item;
  return { ...item, encrypted_content: `${item.encrypted_content}-again` };
}

/** The API returns the sources of searches and encrypted reasoning only if `include` asks for them. */
function asRequested<Item extends ConversationItem>(item: Item, { body }: AskedRequest): Item {
  const include = Array.isArray(body.include) ? body.include : [];
  if (item.type === 'reasoning' && !include.includes('reasoning.encrypted_content')) {
    const { encrypted_content: _, ...rest } = item;
    return rest as unknown as Item;
  }
  if (item.type !== 'web_search_call' || include.includes('web_search_call.action.sources')) return item;
  const { sources: _, ...action } = item.action as JsonObject;
  return { ...item, action };
}

function eventsOf(item: ConversationItem, outputIndex: number): ApiEvent[] {
  switch (item.type) {
    case 'reasoning':
      return reasoningEvents(item, outputIndex);
    case 'function_call':
      return functionCallEvents(item, outputIndex);
    default:
      return itemEvents(item, outputIndex, 2);
  }
}

/** The encrypted content is complete only in the last event. */
function reasoningEvents(item: ReasoningItem, outputIndex: number): ApiEvent[] {
  const content = item.encrypted_content;
  const begun = content === undefined ? item : { ...item, encrypted_content: content.slice(0, 12) };
  return [
    { type: 'response.output_item.added', output_index: outputIndex, item: begun },
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ];
}

function functionCallEvents(item: FunctionCallItem, outputIndex: number): ApiEvent[] {
  const place = { item_id: item.id, output_index: outputIndex };
  const half = Math.ceil(item.arguments.length / 2);
  return [
    {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: { ...item, status: 'in_progress', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments.slice(0, half) },
    { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments.slice(half) },
    { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ];
}
