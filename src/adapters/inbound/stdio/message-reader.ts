import { isUtf8 } from 'node:buffer';
import { isNestedDeeper, MAX_NESTING, parseJson } from '../../../domain/values/json.ts';

/** How a message is framed: as a line, or after a `Content-Length` header. */
export type Framing = 'line' | 'framed';

export type ReadEvent =
  | { readonly kind: 'message'; readonly value: unknown; readonly framing: Framing }
  | { readonly kind: 'malformed'; readonly reason: string; readonly framing: Framing };

/** The longest message, in bytes. */
const MAX_BYTES = 256 * 1024 * 1024;
const LF = 0x0a;
const WHITESPACE = new Set([0x20, 0x09, 0x0d]);
/** The start of a header, which no JSON has. White space includes the byte order mark. */
const FIRST_FIELD = /^\s*content-[\w-]+\s*:/i;
const FIELD = /^\s*([\w-]+)\s*:(.*)$/s;

/**
 * Turns bytes into messages, regardless of how they are split into chunks: lines of JSON, or JSON after `Content-Length` headers, in any
 * order. Malformed input is reported, and reading continues at the next header or line.
 */
export class MessageReader {
  readonly #onEvent: (event: ReadEvent) => void;
  readonly #onHeader: (bytes: number) => void;
  /** The received parts of an incomplete line or body, and their total length. */
  #parts: Buffer[] = [];
  #size = 0;
  /** The length of the body that is being read. */
  #bodyLength: number | undefined;
  /** The value of `Content-Length` and the number of bytes so far, while a header is being read. */
  #header: { length: string; bytes: number } | undefined;

  /** `onHeader` gets the length in bytes of each complete header, without its blank line. */
  constructor(onEvent: (event: ReadEvent) => void, onHeader: (bytes: number) => void = () => {}) {
    this.#onEvent = onEvent;
    this.#onHeader = onHeader;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#bodyLength === undefined ? this.#readLine(rest) : this.#readBody(rest);
  }

  /** Reads the rest at the end of the input. The last line may have no line break, and the last frame may be incomplete. */
  end(): void {
    if (this.#bodyLength !== undefined || this.#header !== undefined)
      this.#report('the input ended inside a frame', 'framed');
    else if (this.#size > 0) this.#readLine(Buffer.from('\n'));
  }

  /** Reads to the end of the line, and returns the bytes after it. */
  #readLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(LF);
    this.#keep(end < 0 ? bytes : bytes.subarray(0, end));
    if (end < 0) return bytes.subarray(bytes.length);
    if (this.#size > MAX_BYTES) {
      this.#takeAll();
      this.#report('a line of more than 256 MiB', 'line');
    } else this.#onLine(this.#takeAll());
    return bytes.subarray(end + 1);
  }

  #onLine(line: Buffer): void {
    const isField = this.#header !== undefined || FIRST_FIELD.test(line.toString('utf8', 0, 64));
    if (isField) this.#onField(line);
    else if (line.some((byte) => !WHITESPACE.has(byte))) this.#emit(line, 'line', 'a line that');
  }

  #onField(line: Buffer): void {
    const text = line.toString().trim();
    const { length, bytes } = this.#header ?? { length: 'missing', bytes: 0 };
    this.#header = undefined;
    if (text === '') {
      this.#onHeader(bytes);
      if (/^\d+$/.test(length) && Number(length) <= MAX_BYTES) this.#bodyLength = Number(length);
      else this.#report(`a header whose Content-Length is ${length}`, 'framed');
      if (this.#bodyLength === 0) this.#readBody(line.subarray(line.length));
      return;
    }
    const [, name, value = ''] = FIELD.exec(text) ?? [];
    if (name === undefined) {
      this.#report('an invalid header', 'framed');
      this.#onLine(line);
    } else {
      const isLength = name.toLowerCase() === 'content-length';
      this.#header = { length: isLength ? value.trim() : length, bytes: bytes + line.length + 1 };
    }
  }

  /** Reads to the end of the body, and returns the bytes after it. */
  #readBody(bytes: Buffer): Buffer {
    const missing = (this.#bodyLength ?? 0) - this.#size;
    this.#keep(bytes.subarray(0, missing));
    if (bytes.length >= missing) {
      this.#bodyLength = undefined;
      this.#emit(this.#takeAll(), 'framed', 'a frame whose body');
    }
    return bytes.subarray(missing);
  }

  /** Keeps bytes for later. For a line that is too long, keeps only the length. */
  #keep(bytes: Buffer): void {
    this.#size += bytes.length;
    if (this.#size > MAX_BYTES) this.#parts = [];
    else if (bytes.length > 0) this.#parts.push(bytes);
  }

  #takeAll(): Buffer {
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return bytes;
  }

  #emit(bytes: Buffer, framing: Framing, what: string): void {
    // Decoding replaces invalid bytes by the same character, so that different IDs would become equal.
    const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined;
    if (value === undefined) this.#report(`${what} is not JSON`, framing);
    else if (isNestedDeeper(value, MAX_NESTING))
      this.#report(`${what} nests more than ${MAX_NESTING} levels deep`, framing);
    else this.#onEvent({ kind: 'message', value, framing });
  }

  #report(reason: string, framing: Framing): void {
    this.#onEvent({ kind: 'malformed', reason, framing });
  }
}
