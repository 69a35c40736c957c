import { JsonNesting, MAX_NESTING } from '../../../domain/json-nesting.ts';

const NEWLINE = 0x0a;
/** How much of a line that is not read is kept at its start and at its end. */
const KEPT_BYTES = 256;

/**
 * How many objects, lists and members a message may have, as `JsonNesting` counts them: to read and write so many takes at most a second,
 * and 70 MB. A table of 150,000 rows with seven columns has fewer.
 */
const MAX_PARTS = 1_250_000;

/** Why a message is not read. */
export type Excess = 'too_large' | 'too_deep' | 'too_many_parts';

/** A line, or the start and the end of one that exceeds a limit. */
export type ReadLine =
  | { readonly text: string }
  | { readonly head: string; readonly tail: string; readonly excess: Excess };

/** Splits bytes into lines of at most `maxBytes`, and looks how deeply they nest and how many parts they have. Memory stays bounded, whatever arrives. */
export class LineReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that end in the next chunk. Each is read when it is asked for; all must be. */
  *linesOf(chunk: Buffer): Generator<ReadLine> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      yield this.#end();
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #append(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= this.#maxBytes) {
      this.#chunks.push(bytes);
      return;
    }
    const isFirstExcess = this.#length - bytes.length <= this.#maxBytes;
    if (isFirstExcess) {
      const read = Buffer.concat(this.#chunks);
      const start = Buffer.concat([read.subarray(0, KEPT_BYTES), bytes.subarray(0, KEPT_BYTES)]);
      this.#chunks = [start.subarray(0, KEPT_BYTES)];
      this.#tail = Buffer.from(read.subarray(-KEPT_BYTES));
    }
    this.#tail = Buffer.from(Buffer.concat([this.#tail, bytes.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES));
  }

  #end(): ReadLine {
    const bytes = Buffer.concat(this.#chunks);
    const line = this.#toLine(bytes);
    this.#chunks = [];
    this.#length = 0;
    this.#tail = Buffer.alloc(0);
    return line;
  }

  #toLine(bytes: Buffer): ReadLine {
    const isTooLong = this.#length > this.#maxBytes;
    if (isTooLong) return { head: bytes.toString(), tail: this.#tail.toString(), excess: 'too_large' };
    const excess = partsExcess(new JsonNesting(MAX_NESTING), bytes);
    if (excess === undefined) return { text: bytes.toString() };
    const [head, tail] = [bytes.subarray(0, KEPT_BYTES), bytes.subarray(-KEPT_BYTES)];
    return { head: head.toString(), tail: tail.toString(), excess };
  }
}

/** What a message exceeds with its next bytes. */
export function partsExcess(nesting: JsonNesting, bytes: Uint8Array): Excess | undefined {
  if (nesting.exceeds(bytes)) return 'too_deep';
  return nesting.parts > MAX_PARTS ? 'too_many_parts' : undefined;
}
