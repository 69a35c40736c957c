const NEWLINE = 0x0a;
/** How much of a line that is too long is kept at its start and at its end. */
const KEPT_BYTES = 256;

/** A line, or the start and the end of one that exceeds the limit. */
export type ReadLine = { readonly text: string } | { readonly head: string; readonly tail: string };

/** Splits bytes into lines of at most `maxBytes`. Memory stays bounded, whatever arrives. */
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
    const isTooLong = this.#length > this.#maxBytes;
    const line = isTooLong ? { head: bytes.toString(), tail: this.#tail.toString() } : { text: bytes.toString() };
    this.#chunks = [];
    this.#length = 0;
    this.#tail = Buffer.alloc(0);
    this.#onLine(line);
  }
}
