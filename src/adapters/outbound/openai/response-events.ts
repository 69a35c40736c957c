import { err, ok, type Result } from 'neverthrow';
import type { SearchObserver, SearchProgress } from '../../../application/ports/llm-search.ts';
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
  readonly observer: SearchObserver;
  readonly context: FailureContext;
  /** The output is made of the items of `response.output_item.done`, which are complete (ruling L8). */
  readonly prefersItems: boolean;
  /** Whether the position in the stream is read from every event. */
  readonly isResumable: boolean;
  /** Gets the response of `response.created`, and whether its events are numbered. */
  readonly onCreated?: ((response: JsonObject, isNumbered: boolean) => void) | undefined;
}

/** Collects the outcome of a stream's events and reports their progress. Malformed and unknown events are skipped. */
export class ResponseEvents {
  /** The ID of the response, and the number of its last event, if the server numbers them. */
  position: { readonly id: string; readonly sequence: number } | undefined;
  /** The response of the terminal event, or the error that the API reported. */
  outcome: Result<JsonObject, Failure> | undefined;
  readonly #options: Options;
  /** The events of complete items, which are parsed if the response at the end lacks them. */
  readonly #items: string[] = [];
  #itemsLength = 0;
  readonly #deltas: string[] = [];
  #characters = 0;
  readonly #writing: SearchProgress;

  constructor(options: Options) {
    this.#options = options;
    const count = () => this.#countCharacters();
    this.#writing = {
      kind: 'writing',
      get characters() {
        return count();
      },
    };
  }

  /** Whether the items are longer than any answer. */
  get isTooLarge(): boolean {
    return this.#itemsLength > MAX_LENGTH;
  }

  take(name: string | undefined, data: string): void {
    if (this.outcome !== undefined) return;
    const { observer, context, isResumable } = this.#options;
    const isItemOnly = name === ITEM_DONE && !data.includes('"web_search_call"');
    const isParsed = isResumable || !(isItemOnly || NAME_ONLY.test(name ?? ''));
    const event = isParsed ? asObject(parseJson(data)) : {};
    if (event === undefined) return;
    const type = asText(event.type) ?? name;
    const id = asText(asObject(event.response)?.id) ?? this.position?.id;
    const sequence = asNumber(event.sequence_number);
    if (id !== undefined && sequence !== undefined) this.position = { id, sequence };
    const item = asObject(event.item);
    switch (type) {
      case 'error':
        // Nested in real replies, flat in the API's documentation.
        this.outcome = err(toStreamFailure(asObject(event.error) ?? event, context));
        break;
      case 'response.incomplete':
        // Not every server repeats the status; a call of such a response must not run (ruling L9).
        this.outcome = ok({ status: 'incomplete', ...this.#complete(asObject(event.response)) });
        break;
      case 'response.completed':
      case 'response.failed':
      case 'response.cancelled':
        this.outcome = ok(this.#complete(asObject(event.response)));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        if (this.#deltas.push(data) === MAX_UNREAD) this.#countCharacters();
        observer.onProgress(this.#writing);
        break;
      case 'response.created':
        observer.onProgress({ kind: 'thinking' });
        this.#options.onCreated?.(asObject(event.response) ?? {}, sequence !== undefined);
        break;
      case 'response.output_item.added':
        if (item?.type === 'reasoning') observer.onProgress({ kind: 'thinking' });
        break;
      case 'response.web_search_call.searching':
        observer.onProgress({ kind: 'searching' });
        break;
      case ITEM_DONE:
        this.#items.push(data);
        this.#itemsLength += data.length;
        if (item?.type === 'web_search_call') this.#reportSearch(item);
    }
  }

  /** Only now does a search have its complete action. */
  #reportSearch(item: JsonObject): void {
    const { observer } = this.#options;
    const url = openedPage(item);
    if (url !== undefined) observer.onProgress({ kind: 'opened_page', url });
    for (const query of queriesOf(item)) observer.onProgress({ kind: 'searching', query });
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

  #countCharacters(): number {
    const deltas = this.#deltas.splice(0).map((data) => asText(asObject(parseJson(data))?.delta) ?? '');
    // A character may be split between two deltas.
    for (const _ of deltas.join('')) this.#characters += 1;
    return this.#characters;
  }
}
