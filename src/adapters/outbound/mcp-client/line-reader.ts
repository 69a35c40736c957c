import { MessageBytes, type MessageEnds } from './message-bytes.ts';

const NEWLINE = 0x0a;

/** Splits bytes into lines. If a line has more than `maxBytes`, only its start and its end are kept. */
export class LineReader {
  readonly #line: MessageBytes;

  constructor(maxBytes: number) {
    this.#line = new MessageBytes(maxBytes);
  }

  /** Adds a chunk, and returns the lines that end in it. */
  *linesOf(chunk: Buffer): Generator<Buffer | MessageEnds> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.add(chunk.subarray(start, end));
      yield this.#line.take();
      start = end + 1;
    }
    this.#line.add(chunk.subarray(start));
  }
}
