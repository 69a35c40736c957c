import { MessageBytes, type MessageEnds } from './message-bytes.ts';

const NEWLINE = 0x0a;

/** Splits bytes into lines. Of a line with more than `maxBytes`, only the start and the end are kept. */
export class LineReader {
  readonly #line: MessageBytes;

  constructor(maxBytes: number) {
    this.#line = new MessageBytes(maxBytes);
  }

  /** The lines that end in the next chunk. */
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
