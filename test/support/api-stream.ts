import {
  type AnswerScript,
  type AskedRequest,
  type JsonObject,
  type MessageItem,
  type OutputItem,
  type SearchCallItem,
  toApiResponse,
  unfinishedResponse,
} from './api-response.ts';

/** One server-sent event of the Responses API, as the object in its `data:`. */
export type ApiEvent = JsonObject & { readonly type: string };

/** Every event of a streamed reply, from `response.created` to the terminal one, in the order and shape of recordings. */
export function answerEvents(script: AnswerScript, request: AskedRequest): ApiEvent[] {
  const response = toApiResponse(script, request);
  return numbered([
    ...openingEvents(request, script.options.model),
    ...response.output.flatMap((item, index) => itemEvents(item, index, script.options.chunks ?? 4)),
    { type: `response.${response.status}`, response },
  ]);
}

export interface StreamFailure {
  readonly code: string;
  readonly message: string;
  /** The `error` event as in the official spec, not as the API sends it (with everything under `error`). */
  readonly flat?: boolean;
  /** Omits one of the two events that report the failure. */
  readonly only?: 'error' | 'response.failed';
}

/** A stream that starts normally and then fails: an `error` event and `response.failed`. */
export function failureEvents(failure: StreamFailure, request: AskedRequest): ApiEvent[] {
  const { code, message, flat = false, only } = failure;
  const error: ApiEvent = flat
    ? { type: 'error', code, message, param: null }
    : { type: 'error', error: { type: 'server_error', code, message, param: null } };
  const failed: ApiEvent = {
    type: 'response.failed',
    response: { ...unfinishedResponse(request), status: 'failed', error: { code, message } },
  };
  const endings = [error, failed].filter((event) => only === undefined || event.type === only);
  return numbered([...openingEvents(request), ...endings]);
}

/** The events, with events between and after them that are not in the spec; all but the future's are recorded ones. */
export function withUnknownEvents(events: readonly ApiEvent[]): ApiEvent[] {
  const mixed = events.flatMap((event): ApiEvent[] => [
    event,
    { type: 'keepalive' },
    { type: 'ping' },
    { type: 'response.thing_of_the_future.delta', delta: 'not a text', output_index: 99, item_id: 'thing_1' },
  ]);
  return numbered([...mixed, { type: 'response.rate_limits.updated', rate_limits: { remaining_requests: '9999' } }]);
}

/** The bytes of an event: `event:` and `data:` lines, LF only, a blank line. */
export function toSse(event: ApiEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** `response.created` and `response.in_progress`. */
export function openingEvents(request: AskedRequest, model?: string): ApiEvent[] {
  const response = unfinishedResponse(request, model);
  return [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
  ];
}

export function itemEvents(item: OutputItem, outputIndex: number, chunks: number): ApiEvent[] {
  return item.type === 'message' ? messageEvents(item, outputIndex, chunks) : searchCallEvents(item, outputIndex);
}

function searchCallEvents(item: SearchCallItem, outputIndex: number): ApiEvent[] {
  const place = { item_id: item.id, output_index: outputIndex };
  return [
    {
      type: 'response.output_item.added',
      item: { id: item.id, type: item.type, status: 'in_progress' },
      output_index: outputIndex,
    },
    { type: 'response.web_search_call.in_progress', ...place },
    { type: 'response.web_search_call.searching', ...place },
    { type: 'response.web_search_call.completed', ...place },
    { type: 'response.output_item.done', item, output_index: outputIndex },
  ];
}

function messageEvents(item: MessageItem, outputIndex: number, chunks: number): ApiEvent[] {
  const place = { content_index: 0, item_id: item.id, output_index: outputIndex };
  const [part] = item.content;
  const emptyPart = part.type === 'refusal' ? { ...part, refusal: '' } : { ...part, annotations: [], text: '' };
  return [
    {
      type: 'response.output_item.added',
      item: { ...item, status: 'in_progress', content: [] },
      output_index: outputIndex,
    },
    { type: 'response.content_part.added', ...place, part: emptyPart },
    ...partEvents(item, place, chunks),
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', item, output_index: outputIndex },
  ];
}

function partEvents({ content: [part] }: MessageItem, place: JsonObject, chunks: number): ApiEvent[] {
  if (part.type === 'refusal') {
    return [
      ...pieces(part.refusal, chunks).map(({ delta }) => ({ type: 'response.refusal.delta', ...place, delta })),
      { type: 'response.refusal.done', ...place, refusal: part.refusal },
    ];
  }
  const cited = part.annotations.map((annotation, index) => ({ annotation, annotation_index: index }));
  const deltas = pieces(part.text, chunks).flatMap(({ delta, start, end }): ApiEvent[] => [
    { type: 'response.output_text.delta', ...place, delta, logprobs: [], obfuscation: 'x'.repeat(8) },
    // A citation is sent right after the delta that ends its link.
    ...cited
      .filter(({ annotation }) => annotation.end_index > start && annotation.end_index <= end)
      .map((fields) => ({ type: 'response.output_text.annotation.added', ...place, ...fields })),
  ]);
  return [...deltas, { type: 'response.output_text.done', ...place, logprobs: [], text: part.text }];
}

/** `text` in `count` pieces, split between code points; fewer if it is too short. */
function pieces(text: string, count: number): { delta: string; start: number; end: number }[] {
  const points = [...text];
  const cuts = Math.min(Math.max(count, 1), points.length);
  return Array.from({ length: cuts }, (_, index) => {
    const start = Math.round((index * points.length) / cuts);
    const end = Math.round(((index + 1) * points.length) / cuts);
    return { delta: points.slice(start, end).join(''), start, end };
  });
}

export function numbered(events: readonly ApiEvent[]): ApiEvent[] {
  return events.map((event, index) => ({ ...event, sequence_number: index }));
}
