import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../../domain/values/json.ts';
import { MAX_NESTING, nestsDeeper } from '../../../domain/values/json-nesting.ts';
import { BodyCheck } from './body-check.ts';
import { ByteBuffer } from './byte-buffer.ts';

/** How a message is framed: as a line, or after a `Content-Length` header (transports 1.1). */
export type Framing = 'line' | 'framed';

export type ReadEvent =
  | { readonly kind: 'message'; readonly value: unknown; readonly framing: Framing }
  | { readonly kind: 'malformed'; readonly reason: string; readonly framing: Framing };

/** The longest message, in bytes (ruling 3). */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_START = 'content-';
const LF = 0x0a;
const WHITESPACE = new Set([0x20, 0x09, 0x0d, LF]);
/** The byte order mark, as Latin-1. */
const BOM = '\xef\xbb\xbf';
const TOO_DEEP = `nests more than ${MAX_NESTING} levels deep`;

/** A part of the input that is being read. It yields when it needs more bytes. */
type Reading<T = void> = Generator<void, T>;

/**
 * Turns bytes into messages, regardless of how they are split into chunks: lines of JSON, or JSON after `Content-Length`
 * headers, in any order.
 * Malformed input is reported once and does not affect other messages: after an invalid frame, reading resumes at the next
 * header or message (ruling 3). The time is linear in the number of bytes.
 */
export class MessageReader {
  readonly #onEvent: (event: ReadEvent) => void;
  readonly #bytes = new ByteBuffer();
  readonly #reading = this.#read();
  /** After an invalid frame: the next bytes were its body, so they do not set the framing and are not reported again. */
  #isRecovering = false;
  #isEnded = false;

  constructor(onEvent: (event: ReadEvent) => void) {
    this.#onEvent = onEvent;
  }

  push(chunk: Uint8Array): void {
    this.#bytes.append(chunk);
    this.#reading.next();
  }

  /** The end of the input. The last line may have no line break, and the last frame may be incomplete. */
  end(): void {
    this.#isEnded = true;
    this.push(Buffer.from('\n\n'));
  }

  /** Only the start of a message determines its framing, since a text may contain what looks like a header. */
  *#read(): Reading {
    while (true) {
      const bytes = this.#bytes.slice();
      const first = bytes.findIndex((byte) => !WHITESPACE.has(byte));
      this.#bytes.drop(first < 0 ? bytes.length : first);
      const start = this.#bytes.slice(0, HEADER_START.length).toString('latin1');
      const isHeader = HEADER_START.startsWith(start.toLowerCase());
      if (start.startsWith(BOM)) this.#bytes.drop(BOM.length);
      else if (start.length < HEADER_START.length && (isHeader || BOM.startsWith(start))) yield;
      else if (isHeader) yield* this.#readHeader();
      else yield* this.#readLine();
    }
  }

  *#readLine(): Reading {
    const line = yield* this.#lineAt(0, MAX_BYTES);
    if (line === undefined) {
      this.#report('a line of more than 256 MiB', 'line');
      return yield* this.#skipLine();
    }
    const value = parseBytes(line);
    // A header may follow other bytes without a line break: malformed input, or a body that is longer than its length.
    const header = value === undefined ? headerAtEndOf(line) : -1;
    if (header > 0) {
      const before = parseBytes(line.subarray(0, header));
      this.#emit(before, 'framed', 'bytes that are not JSON');
      this.#isRecovering = false;
      this.#bytes.drop(header);
      return yield* this.#readHeader(before === undefined);
    }
    const problem = value === undefined && isTooDeep(line) ? TOO_DEEP : 'is not JSON';
    this.#emit(value, this.#isRecovering ? 'framed' : 'line', `a line that ${problem}`);
    this.#isRecovering = false;
    this.#bytes.drop(line.length + 1);
  }

  *#skipLine(): Reading {
    let end = this.#bytes.slice().indexOf(LF);
    while (end < 0) {
      this.#bytes.drop(this.#bytes.length);
      yield;
      end = this.#bytes.slice().indexOf(LF);
    }
    this.#bytes.drop(end + 1);
  }

  /** The line that begins at `start`, without its end; undefined if that is not within the first `max` bytes. */
  *#lineAt(start: number, max: number): Reading<Buffer | undefined> {
    let searched = start;
    while (true) {
      const end = this.#bytes.slice().indexOf(LF, searched);
      if (end >= 0 && end <= max) return this.#bytes.slice(start, end);
      searched = this.#bytes.length;
      if (searched > max) return undefined;
      yield;
    }
  }

  /**
   * A header ends with an empty line, within 8 KiB. Each line is checked as soon as it is complete: one that is not a field is read as a line,
   * and so is the first one. `isDoubtful`: it was found at the end of a malformed line. If it is not a header, it was a part of that line,
   * which is reported.
   */
  *#readHeader(isDoubtful = false): Reading {
    let length = 'missing';
    let read = 0;
    while (true) {
      const line = yield* this.#lineAt(read, MAX_HEADER_BYTES);
      const text = line?.toString('latin1').trimEnd();
      const [, name, value = ''] = /^([\w-]+)\s*:(.*)$/s.exec(text ?? '') ?? [];
      if (line === undefined || (text !== '' && name === undefined)) {
        if (!isDoubtful) this.#recover('an invalid header');
        this.#bytes.drop(read);
        return read === 0 ? yield* this.#readLine() : undefined;
      }
      read += line.length + 1;
      if (text === '') break;
      if (name?.toLowerCase() === 'content-length') length = value.trim();
    }
    this.#bytes.drop(read);
    const isValid = /^\d+$/.test(length) && Number(length) <= MAX_BYTES;
    if (isValid) yield* this.#readBody(Number(length));
    else this.#recover(`a header whose Content-Length is ${length}`);
  }

  *#readBody(length: number): Reading {
    this.#isRecovering = false;
    const check = new BodyCheck();
    while (true) {
      const body = this.#bytes.slice(0, length);
      if (!check.accepts(body)) {
        return this.#recover('a frame whose Content-Length is too large, or whose body is not JSON');
      }
      if (body.length === length) return this.#readCompleteBody(body);
      if (this.#isEnded) return this.#recover('the input ended inside a frame');
      yield;
    }
  }

  #readCompleteBody(body: Buffer): void {
    const value = parseBytes(body);
    // The length of a frame that nests too deeply is correct: what follows is not a part of it.
    if (value === undefined && !isTooDeep(body)) this.#recover('a frame whose body is not JSON');
    else {
      this.#bytes.drop(body.length);
      this.#emit(value, 'framed', `a frame whose body ${TOO_DEEP}`);
    }
  }

  /** Continues after the header as if there had been none. */
  #recover(reason: string): void {
    this.#report(reason, 'framed');
    this.#isRecovering = true;
  }

  #emit(value: unknown, framing: Framing, reason: string): void {
    if (value === undefined) this.#report(reason, framing);
    else this.#onEvent({ kind: 'message', value, framing });
  }

  #report(reason: string, framing: Framing): void {
    if (!this.#isRecovering) this.#onEvent({ kind: 'malformed', reason, framing });
  }
}

/** The start of a header at the end of a line, or -1. At the start of a line it is read as a header before. */
function headerAtEndOf(line: Buffer): number {
  const text = line.toString('latin1').toLowerCase().trimEnd();
  const at = text.lastIndexOf(HEADER_START);
  return at > 0 && /^content-(?:length\s*:\s*\d+|type\s*:[^{}]*)$/.test(text.slice(at)) ? at : -1;
}

function isTooDeep(bytes: Buffer): boolean {
  return nestsDeeper(bytes, MAX_NESTING);
}

/**
 * The JSON value of the bytes, or undefined (which is not a JSON value) if they are not JSON in UTF-8, or nest too deeply. The client is
 * trusted, but a mistake of it should not need gigabytes.
 */
function parseBytes(bytes: Buffer): unknown {
  // Decoding replaces invalid bytes by the same character, so different ids would become equal.
  return isUtf8(bytes) && !isTooDeep(bytes) ? parseJson(bytes.toString('utf8').replace(/^\uFEFF/, '')) : undefined;
}
