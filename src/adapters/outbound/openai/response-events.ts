import { err, ok, type Result } from 'neverthrow';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import { type JsonObject, parseJson } from '../../../domain/json.ts';
import { toStreamFailure } from './api-failure.ts';
import type { Failure, FailureContext } from './failure.ts';
import { asNumber, asObject, asText } from './json-values.ts';
import { openedPage, queriesOf } from './search-calls.ts';

/** Events of which only the name is read: the terminal event contains the complete response. */
const NAME_ONLY =
  /^response\.(?:created|in_progress|content_part\.\w+|output_text\.(?:annotation\.added|done)|web_search_call\.\w+)$/;

/** Collects the outcome of a stream's events and reports their progress. Malformed and unknown events are skipped. */
export class ResponseEvents {
  /** The ID of the response, and the number of its last event, if the server numbers them. */
  position: { readonly id: string; readonly sequence: number } | undefined;
  /** The response of the terminal event, or the error that the API reported. */
  outcome: Result<JsonObject, Failure> | undefined;
  readonly #items = new Map<number, JsonObject>();
  #characters = 0;
  readonly #observer: SearchObserver;
  readonly #context: FailureContext;
  readonly #prefersItems: boolean;
  readonly #isResumable: boolean;

  /** `isResumable`: the position in the stream is read from each event. `prefersItems`: the output is made of the items of `response.output_item.done`, which are complete (ruling L8). */
  constructor(observer: SearchObserver, context: FailureContext, prefersItems = false, isResumable = false) {
    this.#observer = observer;
    this.#context = context;
    this.#prefersItems = prefersItems;
    this.#isResumable = isResumable;
  }

  take(name: string | undefined, data: string): void {
    if (this.outcome !== undefined) return;
    if (this.#isResumable) this.#track(data);
    const event = NAME_ONLY.test(name ?? '') ? {} : asObject(parseJson(data));
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
        for (const _ of asText(event.delta) ?? '') this.#characters += 1;
        this.#observer.onProgress({ kind: 'writing', characters: this.#characters });
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
      case 'response.output_item.done':
        if (item !== undefined) this.#addItem(item, asNumber(event.output_index) ?? this.#items.size);
    }
  }

  #track(data: string): void {
    const event = asObject(parseJson(data));
    const id = asText(asObject(event?.response)?.id) ?? this.position?.id;
    const sequence = asNumber(event?.sequence_number);
    if (id !== undefined && sequence !== undefined) this.position = { id, sequence };
  }

  /** Only now does a search have its complete action. */
  #addItem(item: JsonObject, index: number): void {
    this.#items.set(index, item);
    if (item.type !== 'web_search_call') return;
    const url = openedPage(item);
    if (url !== undefined) this.#observer.onProgress({ kind: 'opened_page', url });
    for (const query of queriesOf(item)) this.#observer.onProgress({ kind: 'searching', query });
  }

  /** Some servers end with an empty `output` although they streamed its items. */
  #complete(response: JsonObject): JsonObject {
    const received = Array.isArray(response.output) ? response.output.length : 0;
    const isUsable = this.#prefersItems ? this.#items.size >= received : received === 0;
    if (this.#items.size === 0 || !isUsable) return response;
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...response, output };
  }
}
