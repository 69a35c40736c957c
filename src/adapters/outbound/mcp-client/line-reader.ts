import { MAX_NESTING, nestsDeeper } from '../../../domain/json-nesting.ts';

const NEWLINE = 0x0a;
/** How much of a line that is not read is kept at its start and at its end. */
const KEPT_BYTES = 256;

/** Why a message is not read. */
export type Excess = 'too_large' | 'too_deep';

/** A line, or the start and the end of one that exceeds a limit. */
export type ReadLine =
  | { readonly text: string }
  | { readonly head: string; readonly tail: string; readonly excess: Excess };

/** Splits bytes into lines of at most `maxBytes`, and looks how deeply they nest. Memory stays bounded, whatever arrives. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: ReadLine) => void;
  #chunks: Buffer[] = [];
  #length = 0;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number, onLine: (line: ReadLine) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      this.#emit();
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

  #emit(): void {
    const bytes = Buffer.concat(this.#chunks);
    const line = this.#toLine(bytes);
    this.#chunks = [];
    this.#length = 0;
    this.#tail = Buffer.alloc(0);
    this.#onLine(line);
  }

  #toLine(bytes: Buffer): ReadLine {
    const isTooLong = this.#length > this.#maxBytes;
    if (isTooLong) return { head: bytes.toString(), tail: this.#tail.toString(), excess: 'too_large' };
    if (!nestsDeeper(bytes, MAX_NESTING)) return { text: bytes.toString() };
    const [head, tail] = [bytes.subarray(0, KEPT_BYTES), bytes.subarray(-KEPT_BYTES)];
    return { head: head.toString(), tail: tail.toString(), excess: 'too_deep' };
  }
}
