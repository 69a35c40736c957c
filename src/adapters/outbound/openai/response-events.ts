import { err, ok, type Result } from 'neverthrow';
import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import { type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { MAX_LENGTH } from './api-fetch.ts';
import { type Failure, type FailureContext, toStreamFailure } from './failure.ts';
import { asNumber, asObject, asText } from './json-values.ts';
import { openedPage, queriesOf } from './search-calls.ts';

const ITEM_DONE = 'response.output_item.done';
/** Events whose names say all that is used of them at once. They are many, and long: some repeat the request, others the text. */
const NAME_ONLY =
  /^response\.(?:created|in_progress|content_part\.\w+|output_text\.(?:annotation\.added|done)|refusal\.delta|output_text\.delta|web_search_call\.\w+)$/;
/** How many deltas are kept until the count of their characters is read, which few callers do. */
const MAX_UNREAD = 100;

interface Options {
  readonly onProgress?: (progress: SearchProgress) => void;
  /** The output is made of the items of `response.output_item.done`, which are complete (ruling L8). */
  readonly prefersItems?: boolean;
  /** Whether the ID and the position in the stream are read from every event. */
  readonly isResumable?: boolean;
  /** Gets the response of `response.created`. */
  readonly onCreated?: (response: JsonObject) => void;
}

/** Collects the outcome of a stream's events and reports their progress. Malformed and unknown events are skipped. */
export class ResponseEvents {
  /** The ID of the response. */
  id: string | undefined;
  /** The number of the last event, if the server numbers them. */
  sequence: number | undefined;
  /** The response of the terminal event, or the error that the API reported. */
  outcome: Result<JsonObject, Failure> | undefined;
  readonly context: FailureContext;
  readonly #options: Options;
  /** The events of complete items, which are parsed if the response at the end lacks them. */
  readonly #items: string[] = [];
  #itemsLength = 0;
  readonly #writing = new Writing();

  constructor(context: FailureContext, options: Options = {}) {
    this.context = context;
    this.#options = options;
  }

  /** Whether the items are longer than any answer. */
  get isTooLarge(): boolean {
    return this.#itemsLength > MAX_LENGTH;
  }

  take(name: string | undefined, data: string): void {
    if (this.outcome !== undefined) return;
    const { onProgress, onCreated, isResumable } = this.#options;
    const isItemOnly = name === ITEM_DONE && !data.includes('"web_search_call"');
    const isParsed = isResumable || !(isItemOnly || NAME_ONLY.test(name ?? ''));
    const event = isParsed ? asObject(parseJson(data)) : {};
    if (event === undefined) return;
    const type = asText(event.type) ?? name;
    const response = asObject(event.response);
    this.id = asText(response?.id) ?? this.id;
    this.sequence = asNumber(event.sequence_number) ?? this.sequence;
    const item = asObject(event.item);
    switch (type) {
      case 'error':
        // Nested in real replies, flat in the API's documentation.
        this.outcome = err(toStreamFailure(asObject(event.error) ?? event, this.context));
        break;
      case 'response.incomplete':
        // Not every server repeats the status; a call of such a response must not run (ruling L9).
        this.outcome = ok({ status: 'incomplete', ...this.#complete(response) });
        break;
      case 'response.completed':
      case 'response.failed':
      case 'response.cancelled':
        this.outcome = ok(this.#complete(response));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#writing.add(data);
        onProgress?.(this.#writing);
        break;
      case 'response.created':
        onProgress?.({ kind: 'thinking' });
        onCreated?.(response ?? {});
        break;
      case 'response.output_item.added':
        if (item?.type === 'reasoning') onProgress?.({ kind: 'thinking' });
        break;
      case 'response.web_search_call.searching':
        onProgress?.({ kind: 'searching' });
        break;
      case ITEM_DONE:
        this.#items.push(data);
        this.#itemsLength += data.length;
        if (item?.type === 'web_search_call') this.#reportSearch(item);
    }
  }

  /** Only now does a search have its complete action. */
  #reportSearch(item: JsonObject): void {
    const { onProgress } = this.#options;
    const url = openedPage(item);
    if (url !== undefined) onProgress?.({ kind: 'opened_page', url });
    for (const query of queriesOf(item)) onProgress?.({ kind: 'searching', query });
  }

  /** Some servers end with an empty `output` although they streamed its items. */
  #complete(response: JsonObject = {}): JsonObject {
    const received = Array.isArray(response.output) ? response.output.length : 0;
    if (received > 0 && !this.#options.prefersItems) return response;
    const items = new Map<number, JsonObject>();
    for (const data of this.#items) {
      const event = asObject(parseJson(data));
      const item = asObject(event?.item);
      if (item !== undefined) items.set(asNumber(event?.output_index) ?? items.size, item);
    }
    if (items.size === 0 || items.size < received) return response;
    const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...response, output };
  }
}

/** The text so far. Its characters are counted when they are asked for. */
class Writing {
  readonly kind = 'writing';
  readonly #deltas: string[] = [];
  #characters = 0;

  add(data: string): void {
    if (this.#deltas.push(data) === MAX_UNREAD) this.#count();
  }

  get characters(): number {
    this.#count();
    return this.#characters;
  }

  #count(): void {
    const deltas = this.#deltas.splice(0).map((data) => asText(asObject(parseJson(data))?.delta) ?? '');
    // A character may be split between two deltas.
    for (const _ of deltas.join('')) this.#characters += 1;
  }
}
