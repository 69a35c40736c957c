import { err, ok, type Result } from 'neverthrow';
import type { SearchObserver, SearchProgress } from '../../../application/ports/llm-search.ts';
import { type JsonObject, parseJson } from '../../../domain/json.ts';
import { toStreamFailure } from './api-failure.ts';
import { MAX_LENGTH } from './api-fetch.ts';
import type { Failure, FailureContext } from './failure.ts';
import { asNumber, asObject, asText } from './json-values.ts';
import { openedPage, queriesOf } from './search-calls.ts';
import { WrittenCharacters } from './written-characters.ts';

/** Events of which only the name is read: the terminal event contains the complete response. */
const NAME_ONLY =
  /^response\.(?:created|in_progress|content_part\.\w+|output_text\.(?:annotation\.added|done)|web_search_call\.\w+)$/;

const DELTA = /^response\.(?:output_text|refusal)\.delta$/;
const ITEM_DONE = 'response.output_item.done';

/** Collects the outcome of a stream's events and reports their progress. Malformed and unknown events are skipped. */
export class ResponseEvents {
  /** The ID of the response, and the number of its last event, if the server numbers them. */
  position: { readonly id: string; readonly sequence: number } | undefined;
  /** The response of the terminal event, or the error that the API reported. */
  outcome: Result<JsonObject, Failure> | undefined;
  /** The events of complete items, which are parsed if the response at the end lacks them. */
  readonly #items: string[] = [];
  #itemsLength = 0;
  readonly #written = new WrittenCharacters();
  /** The number of characters is that at the time of reading. */
  readonly #writing: SearchProgress;
  readonly #observer: SearchObserver;
  readonly #context: FailureContext;
  readonly #prefersItems: boolean;
  readonly #isResumable: boolean;

  /** `isResumable`: the position in the stream is read from each event. `prefersItems`: the output is made of the items of `response.output_item.done`, which are complete (ruling L8). */
  constructor(observer: SearchObserver, context: FailureContext, prefersItems = false, isResumable = false) {
    this.#observer = observer;
    const written = this.#written;
    this.#writing = {
      kind: 'writing',
      get characters() {
        return written.count;
      },
    };
    this.#context = context;
    this.#prefersItems = prefersItems;
    this.#isResumable = isResumable;
  }

  /** Whether the items are longer than any answer. */
  get isTooLarge(): boolean {
    return this.#itemsLength > MAX_LENGTH;
  }

  take(name: string | undefined, data: string): void {
    if (this.outcome !== undefined) return;
    if (this.#isResumable) this.#track(data);
    // What is parsed only if it is needed makes up half of the stream of a short answer.
    const isSearch = data.includes('"web_search_call"');
    const isNameOnly = DELTA.test(name ?? '') || (name === ITEM_DONE && !isSearch) || NAME_ONLY.test(name ?? '');
    const event = isNameOnly ? {} : asObject(parseJson(data));
    if (event === undefined) return;
    const type = asText(event.type) ?? name;
    const item = asObject(event.item);
    switch (type) {
      case 'error':
        // Nested in real replies, flat in the API's documentation.
        this.outcome = err(toStreamFailure(asObject(event.error) ?? event, this.#context));
        break;
      case 'response.incomplete':
        // Not every server repeats the status; a call of such a response must not run (ruling L9).
        this.outcome = ok({ status: 'incomplete', ...this.#complete(asObject(event.response) ?? {}) });
        break;
      case 'response.completed':
      case 'response.failed':
      case 'response.cancelled':
        this.outcome = ok(this.#complete(asObject(event.response) ?? {}));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#written.add(data);
        this.#observer.onProgress(this.#writing);
        break;
      case 'response.created':
        this.#observer.onProgress({ kind: 'thinking' });
        break;
      case 'response.output_item.added':
        if (item?.type === 'reasoning') this.#observer.onProgress({ kind: 'thinking' });
        break;
      case 'response.web_search_call.searching':
        this.#observer.onProgress({ kind: 'searching' });
        break;
      case ITEM_DONE:
        this.#items.push(data);
        this.#itemsLength += data.length;
        if (item?.type === 'web_search_call') this.#reportSearch(item);
    }
  }

  #track(data: string): void {
    const event = asObject(parseJson(data));
    const id = asText(asObject(event?.response)?.id) ?? this.position?.id;
    const sequence = asNumber(event?.sequence_number);
    if (id !== undefined && sequence !== undefined) this.position = { id, sequence };
  }

  /** Only now does a search have its complete action. */
  #reportSearch(item: JsonObject): void {
    const url = openedPage(item);
    if (url !== undefined) this.#observer.onProgress({ kind: 'opened_page', url });
    for (const query of queriesOf(item)) this.#observer.onProgress({ kind: 'searching', query });
  }

  /** Some servers end with an empty `output` although they streamed its items. */
  #complete(response: JsonObject): JsonObject {
    const received = Array.isArray(response.output) ? response.output.length : 0;
    if (!this.#prefersItems && received > 0) return response;
    const items = new Map<number, JsonObject>();
    for (const event of this.#items.map((data) => asObject(parseJson(data)))) {
      const item = asObject(event?.item);
      if (item !== undefined) items.set(asNumber(event?.output_index) ?? items.size, item);
    }
    if (items.size === 0 || items.size < received) return response;
    const output = [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...response, output };
  }
}
