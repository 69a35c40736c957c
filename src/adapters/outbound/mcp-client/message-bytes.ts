/** Number of bytes that are kept at each end. The ID of a response is in them, because servers write it before or after the result. */
export const END_BYTES = 1024;

/** The start and the end of a message that was too large. */
export interface MessageEnds {
  readonly start: string;
  readonly end: string;
}

/** Collects the bytes of one message after the other. If a message has more than `maxBytes`, only its start and its end are kept. */
export class MessageBytes {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isTooLarge(): boolean {
    return this.#length > this.#maxBytes;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    this.#parts.push(bytes);
    if (!this.isTooLarge) return;
    const kept = Buffer.concat(this.#parts);
    this.#parts = [kept.subarray(0, END_BYTES), kept.subarray(END_BYTES).subarray(-END_BYTES)];
  }

  /** Ends the message, and returns it. The next byte begins another one. */
  take(): Buffer | MessageEnds {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first instanceof Buffer ? first : Buffer.concat(this.#parts);
    const isTooLarge = this.isTooLarge;
    this.#parts = [];
    this.#length = 0;
    if (!isTooLarge) return bytes;
    return { start: bytes.toString('utf8', 0, END_BYTES), end: bytes.subarray(-END_BYTES).toString() };
  }
}
