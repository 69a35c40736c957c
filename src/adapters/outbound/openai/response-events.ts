import { err, ok, type Result } from 'neverthrow';
import type { SearchProgress } from '../../../application/ports/llm-search.ts';
import { type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { type Failure, type FailureContext, toStreamFailure } from './failure.ts';
import { asNumber, asObject, asText } from './json-values.ts';
import { openedPage, queriesOf } from './search-reply.ts';

const ITEM_DONE = 'response.output_item.done';
const IN_PROGRESS = 'response.in_progress';

/** Events of which nothing is read. Their data, which repeats the text or the request, is not parsed. */
const UNREAD: ReadonlySet<string> = new Set([
  'response.web_search_call.in_progress',
  'response.web_search_call.completed',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.done',
  'response.output_text.annotation.added',
]);

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
  readonly context: FailureContext;
  readonly #options: Options;
  /** The complete items by their positions, because the response of the terminal event may lack them. */
  readonly #items = new Map<number, JsonObject>();
  #characters = 0;

  constructor(context: FailureContext, options: Options = {}) {
    this.context = context;
    this.#options = options;
  }

  take(name: string | undefined, data: string): void {
    if (this.outcome !== undefined || this.#isUnread(name)) return;
    const { onProgress, onCreated } = this.#options;
    const event = asObject(parseJson(data));
    if (event === undefined) return;
    const type = asText(event.type) ?? name;
    const response = asObject(event.response);
    this.id = asText(response?.id) ?? this.id;
    const item = asObject(event.item);
    switch (type) {
      case 'error':
        // The error is nested in real replies, but flat in the API's documentation.
        this.outcome = err(toStreamFailure(asObject(event.error) ?? event, this.context));
        break;
      case 'response.incomplete':
        // Some servers do not repeat the status, and a call of an incomplete response must not run.
        this.outcome = ok({ status: 'incomplete', ...this.#complete(response) });
        break;
      case 'response.completed':
      case 'response.failed':
      case 'response.cancelled':
        this.outcome = ok(this.#complete(response));
        break;
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#characters += [...(asText(event.delta) ?? '')].length;
        onProgress?.({ kind: 'writing', characters: this.#characters });
        break;
      case 'response.created':
        onProgress?.({ kind: 'thinking' });
        onCreated?.();
        break;
      case 'response.output_item.added':
        if (item?.type === 'reasoning') onProgress?.({ kind: 'thinking' });
        break;
      case 'response.web_search_call.searching':
        onProgress?.({ kind: 'searching' });
        break;
      case ITEM_DONE:
        if (item === undefined) break;
        this.#items.set(asNumber(event.output_index) ?? this.#items.size, item);
        if (item.type === 'web_search_call') this.#reportSearch(item);
    }
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

  /** Replaces `output` by the items of the stream, which are complete: some servers stream items, and then end with an empty `output`. */
  #complete(response: JsonObject = {}): JsonObject {
    const received = Array.isArray(response.output) ? response.output.length : 0;
    if (this.#items.size === 0 || this.#items.size < received) return response;
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...response, output };
  }
}
