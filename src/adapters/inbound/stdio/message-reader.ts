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
const OPENING_BRACE = 0x7b;
const WHITESPACE = new Set([0x20, 0x09, 0x0d, LF]);
/** The byte order mark, as Latin-1. */
const BOM = '\xef\xbb\xbf';
const TOO_DEEP = `nests more than ${MAX_NESTING} levels deep`;

/** What is being read: nothing yet, a line, a header, the body of a frame, or a line that is too long to be kept. */
type State =
  | { readonly kind: 'start' }
  | { readonly kind: 'line'; searched: number }
  | HeaderState
  | { readonly kind: 'body'; readonly length: number; readonly check: BodyCheck }
  | { readonly kind: 'oversized-line' };

interface HeaderState {
  readonly kind: 'header';
  /** The value of `Content-Length`, if it was read. */
  length: string | undefined;
  /** The start of the next header line. */
  read: number;
  /** It was found at the end of a malformed line. If it is not a header, it was a part of that line, which is reported. */
  readonly isDoubtful: boolean;
}

const START: State = { kind: 'start' };

/**
 * Turns bytes into messages, regardless of how they are split into chunks: lines of JSON, or JSON after `Content-Length`
 * headers, in any order.
 * Malformed input is reported once and does not affect other messages: after an invalid frame, reading resumes at the next
 * header or message (ruling 3). The time is linear in the number of bytes.
 */
export class MessageReader {
  readonly #onEvent: (event: ReadEvent) => void;
  readonly #bytes = new ByteBuffer();
  #state: State = START;
  /** After an invalid frame: the next bytes were its body, so they do not set the framing and are not reported again. */
  #isRecovering = false;

  constructor(onEvent: (event: ReadEvent) => void) {
    this.#onEvent = onEvent;
  }

  push(chunk: Uint8Array): void {
    this.#bytes.append(chunk);
    while (this.#step());
  }

  /** The end of the input. The last line may have no line break, and the last frame may be incomplete. */
  end(): void {
    this.push(Buffer.from('\n\n'));
    while (this.#state.kind === 'body') {
      this.#recover('the input ended inside a frame');
      while (this.#step());
    }
  }

  /** Takes one step; false if that needs more bytes. */
  #step(): boolean {
    switch (this.#state.kind) {
      case 'start':
        return this.#readStart();
      case 'line':
        return this.#readLine(this.#state);
      case 'header':
        return this.#readHeader(this.#state);
      case 'body':
        return this.#readBody(this.#state);
      case 'oversized-line':
        return this.#skipLine();
    }
  }

  /** Only the start of a message determines its framing, since a text may contain what looks like a header. */
  #readStart(): boolean {
    const bytes = this.#bytes.slice();
    const first = bytes.findIndex((byte) => !WHITESPACE.has(byte));
    this.#bytes.drop(first < 0 ? bytes.length : first);
    if (bytes[first] === OPENING_BRACE) {
      this.#state = { kind: 'line', searched: 0 };
      return true;
    }
    const start = this.#bytes.slice(0, HEADER_START.length).toString('latin1');
    if (start.startsWith(BOM)) {
      this.#bytes.drop(BOM.length);
      return true;
    }
    const isHeader = HEADER_START.startsWith(start.toLowerCase());
    if (start.length < HEADER_START.length && (isHeader || BOM.startsWith(start))) return false;
    this.#state = isHeader ? headerState() : { kind: 'line', searched: 0 };
    return true;
  }

  #readLine(state: { searched: number }): boolean {
    const end = this.#bytes.slice().indexOf(LF, state.searched);
    if (end >= 0) {
      this.#state = START;
      this.#readCompleteLine(end);
      return true;
    }
    state.searched = this.#bytes.length;
    if (this.#bytes.length <= MAX_BYTES) return false;
    this.#report('a line of more than 256 MiB', 'line');
    this.#state = { kind: 'oversized-line' };
    return true;
  }

  #skipLine(): boolean {
    const end = this.#bytes.slice().indexOf(LF, 0);
    this.#bytes.drop(end < 0 ? this.#bytes.length : end + 1);
    if (end >= 0) this.#state = START;
    return end >= 0;
  }

  #readCompleteLine(end: number): void {
    const line = this.#bytes.slice(0, end);
    const value = parseBytes(line);
    // A header may follow other bytes without a line break: malformed input, or a body that is longer than its length.
    const header = value === undefined ? headerAtEndOf(line) : -1;
    if (header > 0) {
      const isMessage = this.#emit(parseBytes(line.subarray(0, header)), 'framed', 'bytes that are not JSON');
      this.#state = headerState(!isMessage);
    } else {
      const problem = value === undefined && isTooDeep(line) ? TOO_DEEP : 'is not JSON';
      this.#emit(value, this.#isRecovering ? 'framed' : 'line', `a line that ${problem}`);
    }
    this.#isRecovering = false;
    this.#bytes.drop(header > 0 ? header : end + 1);
  }

  /** A header ends with an empty line, within 8 KiB. Each line is checked as soon as it is complete. */
  #readHeader(state: HeaderState): boolean {
    while (true) {
      const end = this.#bytes.slice().indexOf(LF, state.read);
      if (end < 0 && this.#bytes.length < MAX_HEADER_BYTES) return false;
      if (end < 0 || end >= MAX_HEADER_BYTES) return this.#leaveHeader(state);
      const line = this.#bytes.slice(state.read, end).toString('latin1').trimEnd();
      if (line === '') return this.#endHeader(state.length, end + 1);
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
      if (!/^[\w-]+$/.test(name)) return this.#leaveHeader(state);
      if (name === 'content-length') state.length = line.slice(colon + 1).trim();
      state.read = end + 1;
    }
  }

  #endHeader(text: string | undefined, size: number): boolean {
    const length = /^\d+$/.test(text ?? '') ? Number(text) : Number.NaN;
    this.#bytes.drop(size);
    if (!(length <= MAX_BYTES)) return this.#recover(`a header whose Content-Length is ${text ?? 'missing'}`);
    this.#isRecovering = false;
    this.#state = { kind: 'body', length, check: new BodyCheck() };
    return true;
  }

  /** A line that is not a header field: it is read as a line, and so is the first line of a header. */
  #leaveHeader({ read, isDoubtful }: HeaderState): boolean {
    if (isDoubtful) this.#state = START;
    else this.#recover('an invalid header');
    this.#bytes.drop(read);
    if (read === 0) this.#state = { kind: 'line', searched: 0 };
    return true;
  }

  #readBody({ length, check }: { readonly length: number; readonly check: BodyCheck }): boolean {
    const body = this.#bytes.slice(0, length);
    if (!check.accepts(body)) {
      return this.#recover('a frame whose Content-Length is too large, or whose body is not JSON');
    }
    if (body.length < length) return false;
    const value = parseBytes(body);
    // The length of a frame that nests too deeply is correct: what follows is not a part of it.
    if (value === undefined && !isTooDeep(body)) return this.#recover('a frame whose body is not JSON');
    this.#state = START;
    this.#bytes.drop(length);
    this.#emit(value, 'framed', `a frame whose body ${TOO_DEEP}`);
    return true;
  }

  /** Continues after the header as if there had been none. */
  #recover(reason: string): true {
    this.#report(reason, 'framed');
    this.#isRecovering = true;
    this.#state = START;
    return true;
  }

  /** Whether there is a message. */
  #emit(value: unknown, framing: Framing, reason: string): boolean {
    if (value === undefined) this.#report(reason, framing);
    else this.#onEvent({ kind: 'message', value, framing });
    return value !== undefined;
  }

  #report(reason: string, framing: Framing): void {
    if (!this.#isRecovering) this.#onEvent({ kind: 'malformed', reason, framing });
  }
}

function headerState(isDoubtful = false): HeaderState {
  return { kind: 'header', length: undefined, read: 0, isDoubtful };
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
