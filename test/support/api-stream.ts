import {
  type AskedRequest,
  type JsonObject,
  responseBody,
  type ScriptedResponse,
  unfinishedResponse,
} from './api-response.ts';
import type { ConversationItem } from './conversation-items.ts';

/** One server-sent event of the Responses API, as the object in its `data:`. */
export type ApiEvent = JsonObject & { readonly type: string };

/** The events of a streamed reply that the program reads. The recorded replies have all the others, too. */
export function responseEvents(script: ScriptedResponse, request: AskedRequest): ApiEvent[] {
  const response = responseBody(script, request);
  const output = script.endsEmpty === true ? [] : response.output.map(encryptedAgain);
  return [
    { type: 'response.created', response: unfinishedResponse(request) },
    ...response.output.flatMap((item, index) => itemEvents(item, index, script.chunks)),
    { type: `response.${response.status}`, response: { ...response, output } },
  ];
}

export interface StreamFailure {
  readonly code: string;
  readonly message: string;
}

/** A stream that starts normally and then fails: an `error` event and `response.failed`. */
export function failureEvents(failure: StreamFailure, request: AskedRequest): ApiEvent[] {
  const response = unfinishedResponse(request);
  return [
    { type: 'response.created', response },
    { type: 'error', error: { type: 'server_error', ...failure, param: null } },
    { type: 'response.failed', response: { ...response, status: 'failed', error: failure } },
  ];
}

/** The bytes of events: `event:` and `data:` lines, LF only, a blank line. */
export function toSse(...events: readonly ApiEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** In recorded streams, the encrypted content of the terminal event is not that of the item's own event. */
function encryptedAgain(item: ConversationItem): ConversationItem {
  if (item.encrypted_content === undefined) return item;
  return { ...item, encrypted_content: `${item.encrypted_content}-again` };
}

/** An item is complete only in its last event. */
function itemEvents(item: ConversationItem, outputIndex: number, chunks = 4): ApiEvent[] {
  const place = { item_id: item.id, output_index: outputIndex };
  const between =
    item.type === 'web_search_call'
      ? [{ type: 'response.web_search_call.searching', ...place }]
      : textDeltas(item, chunks).map((delta) => ({ ...delta, ...place }));
  return [
    {
      type: 'response.output_item.added',
      output_index: outputIndex,
      item: { id: item.id, type: item.type, status: 'in_progress' },
    },
    ...between,
    { type: 'response.output_item.done', output_index: outputIndex, item },
  ];
}

/** The text of a message in pieces, split between code points. */
function textDeltas({ content }: ConversationItem, chunks: number): ApiEvent[] {
  const [part]: readonly JsonObject[] = Array.isArray(content) ? content : [];
  if (part === undefined) return [];
  const points = [...String(part.text ?? part.refusal)];
  const length = Math.ceil(points.length / chunks);
  return Array.from({ length: Math.min(chunks, points.length) }, (_, index) => ({
    type: `response.${String(part.type)}.delta`,
    delta: points.slice(index * length, (index + 1) * length).join(''),
  }));
}
