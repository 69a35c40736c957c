import { err, ok, type Result } from 'neverthrow';
import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import { asObject, asText, isObject, type JsonObject, parseShortNumbers } from '../../../domain/values/json.ts';
import { type Failure, type FailureContext, toStreamFailure } from './failure.ts';
import { isOpen, isSearchCall, openedPage, queriesOf, saysSomething } from './response-forms.ts';
import { StreamedOutput } from './streamed-output.ts';

const ITEM_DONE = 'response.output_item.done';
const IN_PROGRESS = 'response.in_progress';

/** Events of which nothing is read. Their data, which repeats the text or the request, is not parsed. */
const UNREAD: ReadonlySet<string> = new Set([
  'response.web_search_call.in_progress',
  'response.web_search_call.completed',
  'response.content_part.added',
]);
/** Events whose data is parsed only if the items lack what it has. */
const TEXT_ENDS: ReadonlySet<string | undefined> = new Set([
  'response.output_text.done',
  'response.refusal.done',
  'response.content_part.done',
]);
const ANNOTATION = 'response.output_text.annotation.added';

/** The data that ends a stream of some servers, in place of a terminal event. */
const DONE = '[DONE]';

interface Options {
  readonly onProgress?: (progress: SearchProgress) => void;
  /** Called with `response.created`, when the ID is known. */
  readonly onCreated?: () => void;
}

/** Collects the outcome of a stream's events and reports their progress. Malformed and unknown events are skipped. */
export class ResponseEvents {
  id: string | undefined;
  /** The response of the terminal event, or the error that the API reported. */
  outcome: Result<JsonObject, Failure> | undefined;
  /** With the headers of the response as soon as it has begun. */
  context: FailureContext;
  readonly #options: Options;
  readonly #output = new StreamedOutput();
  /** The latest response of an event before the terminal one. */
  #begun: JsonObject = {};
  #failed: JsonObject | undefined;
  #characters = 0;
  #strangeData: string | undefined;

  constructor(context: FailureContext, options: Options = {}) {
    this.context = context;
    this.#options = options;
  }

  /** Whether the answer is complete, and only the terminal event is awaited. */
  get isAnswered(): boolean {
    return this.#output.isAnswered;
  }

  /** The response, if it is complete although no terminal event came. */
  get answered(): JsonObject | undefined {
    const isComplete = this.isAnswered || this.#output.hasTextEnded;
    return isComplete ? this.#complete({ ...this.#begun, status: 'completed' }) : undefined;
  }

  /** Whether the response has failed without a reason, which a later event may have. */
  get lacksReason(): boolean {
    return this.#failed !== undefined && !isObject(this.#failed.error);
  }

  /** The first data that belongs to no response, if nothing else came. */
  get strangeData(): string {
    return this.id === undefined && !this.#output.hasText ? (this.#strangeData ?? '') : '';
  }

  /** Takes a response that is no stream. If it is in progress, it continues at the API. */
  takeResponse(response: JsonObject): void {
    this.id = asText(response.id) ?? this.id;
    if (isOpen(response)) this.#options.onCreated?.();
  }

  take(name: string | undefined, data: string): void {
    if ((this.outcome !== undefined && this.#failed === undefined) || this.#isUnread(name)) return;
    if (TEXT_ENDS.has(name)) this.#output.addEnd(name, data);
    else if (name === ANNOTATION) this.#output.addAnnotation(data);
    else this.#parse(name, data);
  }

  #parse(name: string | undefined, data: string): void {
    const event = asObject(parseShortNumbers(data));
    const type = asText(event?.type) ?? name;
    if (event === undefined) this.#takeText(name, data.trim());
    else if (isRefusal(event, type, name)) this.#refuse(type === 'error' ? { ...event, type: undefined } : event);
    else if (this.outcome === undefined) this.#read(type, event, data);
  }

  #read(type: string | undefined, event: JsonObject, data: string): void {
    const { onProgress, onCreated } = this.#options;
    const response = asObject(event.response);
    this.id = asText(response?.id) ?? this.id;
    const item = asObject(event.item);
    switch (type) {
      case 'response.incomplete':
        // Some servers do not repeat the status, and a call of an incomplete response must not run.
        this.outcome = ok({ status: 'incomplete', ...this.#complete(response) });
        break;
      case 'response.completed':
      case 'response.done':
        this.outcome = ok(completed(this.#complete(response)));
        break;
      case 'response.cancelled':
        this.outcome = ok(this.#complete(response));
        break;
      case 'response.failed':
        this.#failed = { error: event.error, ...this.#complete(response) };
        this.outcome = ok({ status: 'failed', ...this.#failed });
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta': {
        const delta = asText(event.delta) ?? '';
        this.#output.addDelta(event, delta);
        this.#characters += [...delta].length;
        onProgress?.({ kind: 'writing', characters: this.#characters });
        break;
      }
      case 'response.created':
        this.#begun = response ?? this.#begun;
        onProgress?.({ kind: 'thinking' });
        onCreated?.();
        break;
      case 'response.output_item.added':
        this.#output.open(event);
        if (item?.type === 'reasoning') onProgress?.({ kind: 'thinking' });
        break;
      case 'response.web_search_call.searching':
        onProgress?.({ kind: 'searching' });
        break;
      case ITEM_DONE:
        if (item === undefined) break;
        this.#output.close(event, item);
        if (isSearchCall(item)) this.#reportSearch(item);
        break;
      // The name of an event may be in its data only.
      case ANNOTATION:
        this.#output.addAnnotation(data);
        break;
      default:
        if (TEXT_ENDS.has(type)) this.#output.addEnd(type, data);
        else if (type === undefined) this.#takeUntyped(event, data);
    }
  }

  /** An event without a type: the whole response, or something that is no event of a response. */
  #takeUntyped(event: JsonObject, data: string): void {
    if (Array.isArray(event.output) && !isOpen(event)) this.outcome = ok(this.#complete(event));
    else if (saysSomething(event)) this.#strangeData ??= data;
  }

  /** Data that is no object: the end of the stream, or a failure as a text. */
  #takeText(name: string | undefined, text: string): void {
    if (name === 'error') this.#refuse(text);
    else if (text === DONE && this.outcome === undefined && this.#output.hasText)
      this.outcome = ok(this.#complete({ ...this.#begun, status: 'completed' }));
  }

  /** A refusal after `response.failed` says why the response has failed. */
  #refuse(body: unknown): void {
    this.outcome =
      this.#failed === undefined
        ? err(toStreamFailure(body, this.context))
        : ok({ status: 'failed', ...this.#failed, error: [body, this.#failed.error] });
    this.#failed &&= { ...this.#failed, error: {} };
  }

  /** `response.in_progress` has nothing but the ID, which the event before it usually has, too. */
  #isUnread(name: string | undefined): boolean {
    return name !== undefined && (UNREAD.has(name) || (name === IN_PROGRESS && this.id !== undefined));
  }

  /** Reports a search that has ended. Only now does it have its complete action. */
  #reportSearch(item: JsonObject): void {
    const { onProgress } = this.#options;
    const url = openedPage(item);
    if (url !== undefined) onProgress?.({ kind: 'opened_page', url });
    for (const query of queriesOf(item)) onProgress?.({ kind: 'searching', query });
  }

  #complete(response: JsonObject = {}): JsonObject {
    return this.#output.complete(response);
  }
}

/** The response of an event that ends it. Some servers send it with the status that it began with. */
function completed(response: JsonObject): JsonObject {
  return isOpen(response) ? { ...response, status: 'completed' } : response;
}

/** Whether an event is a refusal. The name is `error` in the API's documentation; other servers send the body of an error response without a type. */
function isRefusal(event: JsonObject, type: string | undefined, name: string | undefined): boolean {
  if (name === 'error' || event.object === 'error' || /error$/i.test(type ?? '')) return true;
  if (type !== undefined) return !type.startsWith('response.') && hasValue(event.error);
  const isOfStream = ['response', 'item', 'delta', 'choices'].some((member) => event[member] !== undefined);
  const reasons = isOfStream ? ['error'] : ['error', 'errors', 'message', 'detail'];
  return reasons.some((member) => hasValue(event[member]));
}

function hasValue(member: unknown): boolean {
  return member !== undefined && member !== null && member !== false;
}
