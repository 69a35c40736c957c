import {
  asNumber,
  asObject,
  asText,
  isObject,
  type JsonObject,
  objectsOf,
  parseShortNumbers,
} from '../../../domain/values/json.ts';
import { annotationsOf, isAnswer, isMessage, partsOf, textOf, toResponse } from './response-forms.ts';

/** A part of a message, as its deltas were streamed. */
interface StreamedPart {
  /** An event of the part, which names its place. */
  readonly event: JsonObject;
  readonly deltas: string[];
}

/** What a stream contained: its items, and the texts and annotations of messages, which some servers do not repeat in the items. */
export class StreamedOutput {
  /** The complete items by their positions. */
  readonly #items = new Map<number, JsonObject>();
  /** The items that have begun and are not complete. */
  readonly #opened = new Map<number, JsonObject>();
  readonly #parts = new Map<string, StreamedPart>();
  /** Events that usually repeat what the items have. They are parsed only if the items lack it. */
  readonly #ends: string[] = [];
  readonly #annotations: string[] = [];
  /** Whether the end of a text is the latest that came of an item. */
  #isTextEnded = false;

  open(event: JsonObject): void {
    const index = asNumber(event.output_index);
    if (index !== undefined) this.#opened.set(index, asObject(event.item) ?? {});
    this.#isTextEnded = false;
  }

  close(event: JsonObject, item: JsonObject): void {
    const index = asNumber(event.output_index);
    this.#items.set(this.#placeOf(item, index), item);
    if (index !== undefined) this.#opened.delete(index);
    this.#isTextEnded = false;
  }

  /** The position of an item. Some servers name no position, and complete an item twice, or name the same one for all items. */
  #placeOf(item: JsonObject, index: number | undefined): number {
    const id = asText(item.id);
    const repeated = [...this.#items].find(([, other]) => id !== undefined && other.id === id)?.[0];
    const place = index ?? repeated ?? this.#items.size;
    const { type = item.type } = this.#items.get(place) ?? {};
    return type === item.type ? place : Math.max(...this.#items.keys()) + 1;
  }

  addDelta(event: JsonObject, delta: string): void {
    const { output_index: index, item_id: id, content_index: part = 0 } = event;
    const key = `${String(index ?? id)} ${String(part)}`;
    const streamed = this.#parts.get(key);
    if (streamed === undefined) this.#parts.set(key, { event, deltas: [delta] });
    else streamed.deltas.push(delta);
    this.#isTextEnded = false;
  }

  /** Keeps the end of a text, or of a part, which can be one of reasoning. */
  addEnd(type: string | undefined, data: string): void {
    this.#ends.push(data);
    this.#isTextEnded ||= type !== 'response.content_part.done';
  }

  addAnnotation(data: string): void {
    this.#annotations.push(data);
  }

  /** Whether the text of a message is complete, but not the message itself. */
  get hasTextEnded(): boolean {
    const opened = [...this.#opened.values()];
    return this.#isTextEnded && opened.every((item) => isMessage(item) && item.phase !== 'commentary');
  }

  /** Whether an answer is complete: so is each item that has begun, and the last one is a message with a text. */
  get isAnswered(): boolean {
    if (this.#opened.size > 0) return false;
    const last = this.#items.get(Math.max(...this.#items.keys()));
    return last !== undefined && isAnswer(last);
  }

  get hasText(): boolean {
    return this.#parts.size > 0 || this.#ends.length > 0 || this.isAnswered;
  }

  /** A response with everything that was streamed. The items of the stream are complete, unless the response has more of them. */
  complete(body: JsonObject): JsonObject {
    const response = toResponse(body);
    const received = objectsOf(response.output);
    const isStreamed = this.#items.size > 0 && this.#items.size >= received.length;
    const items = new Map<number, JsonObject>(isStreamed ? this.#items : received.entries());
    const isSilent = ![...items.values()].some((item) => isMessage(item) && textOf(item) !== '');
    for (const { event, deltas } of this.#parts.values()) addText(items, event, deltas.join(''));
    const isBare = ![...items.values()].some((item) => annotationsOf(item).length > 0);
    for (const event of isSilent || isBare ? this.#ends.map(parseShortNumbers).filter(isObject) : []) {
      const part = asObject(event.part) ?? {};
      if (isSilent) addText(items, event, textIn(event) || textIn(part));
      for (const annotation of objectsOf(part.annotations)) addAnnotation(items, { ...event, annotation });
    }
    if (this.#annotations.length > [...items.values()].flatMap(annotationsOf).length)
      for (const event of this.#annotations.map(parseShortNumbers).filter(isObject)) addAnnotation(items, event);
    if (items.size === 0) return response;
    return { ...response, output: [...items].sort(([a], [b]) => a - b).map(([, item]) => item) };
  }
}

/** The text of an event or a part; none of a part with reasoning. */
function textIn({ type, text, refusal }: JsonObject): string {
  if (/reasoning/.test(String(type))) return '';
  return asText(text) ?? asText(refusal) ?? '';
}

/** Adds a text to the message of its event, if no message has it. */
function addText(items: Map<number, JsonObject>, event: JsonObject, text: string): void {
  if (text === '' || [...items.values()].some((item) => isMessage(item) && textOf(item).includes(text))) return;
  const { item_id: id } = event;
  const known = id === undefined ? undefined : [...items.values()].find((item) => item.id === id);
  if (known !== undefined && !isMessage(known)) return;
  const index = asNumber(event.output_index);
  const isNew = known === undefined && (index === undefined ? id !== undefined : !items.has(index));
  const free = index === undefined || items.has(index) ? Math.max(-1, ...items.keys()) + 1 : index;
  const added = { type: 'message', role: 'assistant', id, status: 'completed' };
  const [at, message] = (isNew ? undefined : messageOf(items, event)) ?? [free, added];
  items.set(at, withText(message, event, text));
}

/** A message with the text of a part that it lacks, or has only the beginning of. Another text is what the server made of the streamed one. */
function withText(message: JsonObject, event: JsonObject, text: string): JsonObject {
  const content = [...partsOf(message)];
  const index = Math.min(asNumber(event.content_index) ?? 0, content.length);
  const part = content[index] ?? {};
  if (!text.startsWith(textOf({ content: [part] }))) return message;
  const isRefusal = /refusal/.test(String(asObject(event.part)?.type ?? event.type));
  content[index] = { ...part, ...(isRefusal ? { type: 'refusal', refusal: text } : { type: 'output_text', text }) };
  return { ...message, content };
}

/** Adds an annotation to the message of its event, if the message does not have it. */
function addAnnotation(items: Map<number, JsonObject>, event: JsonObject): void {
  const annotation = asObject(event.annotation);
  const [at, message = {}] = messageOf(items, event) ?? [];
  if (annotation === undefined || at === undefined) return;
  const key = JSON.stringify(annotation);
  if (annotationsOf(message).some((other) => JSON.stringify(other) === key)) return;
  const index = asNumber(event.content_index) ?? 0;
  const content = partsOf(message).map((part, position) =>
    position === index ? { ...part, annotations: [...objectsOf(part.annotations), annotation] } : part,
  );
  items.set(at, { ...message, content });
}

/** The message of an event, by its position or its ID; otherwise the last message. */
function messageOf(items: ReadonlyMap<number, JsonObject>, event: JsonObject): [number, JsonObject] | undefined {
  const messages = [...items].filter(([, item]) => isMessage(item));
  return (
    messages.find(([index]) => index === event.output_index) ??
    messages.find(([, { id }]) => id !== undefined && id === event.item_id) ??
    messages.at(-1)
  );
}
