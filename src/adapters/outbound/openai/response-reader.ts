import { createParser } from 'eventsource-parser';
import { err, ok, type Result } from 'neverthrow';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import {
  excerpt,
  type Failure,
  type FailureContext,
  plainFailure,
  toConnectionFailure,
  toStreamFailure,
} from './failure.ts';
import { asObject, asText, type JsonObject, parseJson } from './json.ts';
import { observeEvent } from './progress.ts';

/** How long the rest of a stream may take once its terminal event came, so that the connection can serve again. */
const DRAIN_MS = 1000;

/**
 * Reads a reply to its terminal state: an event stream, or one JSON body from a server that does not stream (ruling 16).
 *
 * A broken or unknown event is skipped: the terminal event holds the whole response. A stream that ends without one is a
 * broken connection, whatever text it had brought (ruling 14). `onText` hears the body as it came.
 */
export async function readResponse(
  http: Response,
  observer: SearchObserver,
  context: FailureContext,
  onText: (text: string) => void = () => {},
): Promise<Result<JsonObject, Failure>> {
  const isStream = /^\s*text\/event-stream/i.test(http.headers.get('content-type') ?? '');
  if (isStream && http.body !== null) return readStream(http.body, observer, context, onText);

  const body = await http.text();
  const response = asObject(parseJson(body));
  if (response === undefined && /^(?:event|data|:)/.test(body.trimStart())) {
    return readStream(new Blob([body]).stream(), observer, context, onText);
  }
  onText(body);
  if (response !== undefined) return ok(response);
  const shown = body.trim() === '' ? 'an empty body' : `no JSON: ${excerpt(context.redact(body))}`;
  return err(plainFailure({ kind: 'unreadable_reply', detail: shown }, shown, body));
}

async function readStream(
  stream: ReadableStream<Uint8Array>,
  observer: SearchObserver,
  context: FailureContext,
  onText: (text: string) => void = () => {},
): Promise<Result<JsonObject, Failure>> {
  const events = new ResponseEvents(observer, context);
  const parser = createParser({ onEvent: ({ event, data }) => events.take(event, data) });
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  while (events.outcome === undefined) {
    const { done, value } = await reader.read();
    const text = done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
    onText(text);
    parser.feed(text);
    if (done) break;
  }
  void drain(reader);
  return events.outcome ?? err(toConnectionFailure(new Error('the stream ended before its end'), context));
}

/** The events whose data are read. For the others their name is enough: the terminal event contains the same again. */
const EVENTS_WITH_DATA = /^(?!response\.)|item\.(?:added|done)$|delta$|completed$|incomplete$|failed$|cancelled$/;

/** What the events of one stream come to. */
class ResponseEvents {
  outcome: Result<JsonObject, Failure> | undefined;
  readonly #items = new Map<number, JsonObject>();
  #characters = 0;
  readonly #observer: SearchObserver;
  readonly #context: FailureContext;

  constructor(observer: SearchObserver, context: FailureContext) {
    this.#observer = observer;
    this.#context = context;
  }

  take(name: string | undefined, data: string): void {
    const event = name !== undefined && !EVENTS_WITH_DATA.test(name) ? {} : asObject(parseJson(data));
    if (event === undefined || this.outcome !== undefined) return;
    const type = asText(event.type) ?? name ?? '';
    if (type === 'response.output_item.done') this.#keepItem(event);
    if (type === 'error') {
      // Nested on the wire, flat in the API's own description.
      this.outcome = err(toStreamFailure(asObject(event.error) ?? event, this.#context));
    } else if (/^response\.(?:completed|incomplete|failed|cancelled)$/.test(type)) {
      this.outcome = ok(this.#whole(asObject(event.response) ?? {}));
    } else if (/^response\.(?:output_text|refusal)\.delta$/.test(type)) {
      this.#characters += [...(asText(event.delta) ?? '')].length;
      this.#observer.onProgress({ kind: 'writing', characters: this.#characters });
    } else {
      observeEvent(type, event, this.#observer);
    }
  }

  #keepItem(event: JsonObject): void {
    const item = asObject(event.item);
    const index = typeof event.output_index === 'number' ? event.output_index : this.#items.size;
    if (item !== undefined) this.#items.set(index, item);
  }

  /** Some back ends end with an empty `output` although they streamed its items. */
  #whole(response: JsonObject): JsonObject {
    if (this.#items.size === 0 || (Array.isArray(response.output) && response.output.length > 0)) return response;
    const output = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    return { ...response, output };
  }
}

/** Reads on to the end in the background, or gives up: nobody waits for it. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const giveUp = setTimeout(() => void reader.cancel().catch(() => {}), DRAIN_MS);
  giveUp.unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The connection broke behind the answer, which is there.
  } finally {
    clearTimeout(giveUp);
  }
}
