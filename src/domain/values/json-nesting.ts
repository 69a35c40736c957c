const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Messages that are trusted more than a body over HTTP may nest this deeply. */
export const MAX_NESTING = 1000;

/** An object takes longer to read and write if its names differ from those of others: each new name counts as so many parts. */
const NEW_NAME_PARTS = 5;
/** Names are compared only after so many parts, because most messages are small. */
const FEW_PARTS = 10_000;
const NAME_BITS = 2 ** 20;

/**
 * Counts how deeply JSON nests, and its parts, while its bytes arrive. Code that walks through a value needs stack, and `JSON.parse` needs time
 * and up to 60 bytes of memory per part, so both are checked before. Of bytes that are not JSON, it may count too much.
 */
export class JsonNesting {
  readonly #max: number;
  #depth = 0;
  #parts = 0;
  #commas = 0;
  #isInString = false;
  #isEscaped = false;
  #hash = 0;
  /** One bit per hash of a name. */
  #names: Uint8Array | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of objects, lists and members so far; of many members, those with a new name count more. */
  get parts(): number {
    return this.#parts;
  }

  /** The number of commas so far, of which each list has nearly as many as items. */
  get commas(): number {
    return this.#commas;
  }

  /** Whether the bytes so far, these included, nest more deeply than the maximum. */
  exceeds(bytes: Uint8Array): boolean {
    // Not `for of`, which is three times slower on bytes.
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isInString) {
        this.#hash = (Math.imul(this.#hash, 31) + (byte ?? 0)) | 0;
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (byte === QUOTE) {
        this.#isInString = true;
        this.#hash = 0;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        this.#depth += 1;
        this.#parts += 1;
        if (this.#depth > this.#max) return true;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
      else if (byte === COMMA) this.#commas += 1;
      else if (byte === COLON) this.#parts += this.#parts > FEW_PARTS && this.#isNew() ? NEW_NAME_PARTS : 1;
    }
    return false;
  }

  /** Whether no name before had the hash of the last one. */
  #isNew(): boolean {
    this.#names ??= new Uint8Array(NAME_BITS / 8);
    const bit = this.#hash & (NAME_BITS - 1);
    const byte = this.#names[bit >>> 3] ?? 0;
    this.#names[bit >>> 3] = byte | (1 << (bit & 7));
    return (byte & (1 << (bit & 7))) === 0;
  }
}

/** Whether a complete JSON text nests more deeply than `max`. */
export function nestsDeeper(json: Uint8Array, max: number): boolean {
  // Each level is at least one byte.
  return json.length > max && new JsonNesting(max).exceeds(json);
}
