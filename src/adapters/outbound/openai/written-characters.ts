import { parseJson } from '../../../domain/json.ts';
import { asObject, asText } from './json-values.ts';

/** How many events are kept until the count is read. */
const MAX_UNREAD = 100;

/** Counts the characters of an answer that is streamed. Few callers read the count, so the events are parsed when it is read. */
export class WrittenCharacters {
  readonly #unread: string[] = [];
  #count = 0;

  /** Adds the data of a delta event. */
  add(data: string): void {
    this.#unread.push(data);
    if (this.#unread.length === MAX_UNREAD) this.#read();
  }

  get count(): number {
    this.#read();
    return this.#count;
  }

  #read(): void {
    const deltas = this.#unread.splice(0).map((data) => asText(asObject(parseJson(data))?.delta) ?? '');
    for (const _ of deltas.join('')) this.#count += 1;
  }
}
