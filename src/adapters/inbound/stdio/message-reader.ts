import { isUtf8 } from 'node:buffer';
import { ByteBuffer } from './byte-buffer.ts';

/** How a message is framed: as a line, or after a `Content-Length` header (transports 1.1). */
export type Framing = 'line' | 'framed';

/** What was read: a message, or input that is not a message. */
export type ReadEvent =
  | { readonly kind: 'message'; readonly value: unknown; readonly framing: Framing }
  | { readonly kind: 'malformed'; readonly reason: string; readonly framing: Framing };

/** The longest message, in bytes (ruling 3). */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
const HEADER_START = 'content-';
const LENGTH_AT_END = /content-length\s*:\s*\d+$/i;
const LF = 0x0a;
const [COMMA, COLON, OPEN_ARRAY, OPEN_OBJECT] = [0x2c, 0x3a, 0x5b, 0x7b];
const WHITESPACE = new Set([0x20, 0x09, 0x0d, LF]);
const BOM = [0xef, 0xbb, 0xbf];

/** What is being read: nothing yet, a line, a header, the body of a frame, or a line that is too long to be kept. */
type State =
  | { readonly kind: 'start' }
  | { readonly kind: 'line'; searched: number }
  | HeaderState
  | BodyState
  | { readonly kind: 'oversized-line' };

interface HeaderState {
  readonly kind: 'header';
  readonly fields: Map<string, string>;
  /** The start of the next header line. */
  read: number;
  /** It was found at the end of a malformed line. If it is not a header, it was a part of that line, which is reported. */
  readonly isDoubtful: boolean;
}

interface BodyState {
  readonly kind: 'body';
  readonly length: number;
  /** The start of the line whose end has not arrived, and how far it was searched for its end. */
  line: number;
  searched: number;
  /** The last byte before that line that is not whitespace. */
  previous: number;
}

const START: State = { kind: 'start' };

/**
 * Turns bytes into messages, regardless of how they are split into chunks: lines of JSON, or JSON after `Content-Length`
 * headers, in any order.
 *
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
    this.#run();
  }

  /** The end of the input. The last line may have no line break, and the last frame may be incomplete. */
  end(): void {
    this.push(Buffer.from('\n\n'));
    while (this.#state.kind === 'body') {
      this.#recover('the input ended inside a frame');
      this.#run();
    }
  }

  #run(): void {
    while (this.#step());
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
    while (this.#skipWhitespace());
    const start = this.#bytes.slice(0, HEADER_START.length).toString('latin1').toLowerCase();
    const isPartial = start.length < HEADER_START.length;
    if (isPartial && HEADER_START.startsWith(start)) return false;
    if (isPartial && this.#mayBeBom()) return false;
    this.#state = start === HEADER_START ? headerState() : { kind: 'line', searched: 0 };
    return true;
  }

  #skipWhitespace(): boolean {
    const first = this.#bytes.at(0);
    const isBom = first === BOM[0] && BOM.every((byte, index) => this.#bytes.at(index) === byte);
    if (isBom) this.#bytes.drop(BOM.length);
    else if (first !== undefined && WHITESPACE.has(first)) this.#bytes.drop(1);
    else return false;
    return true;
  }

  #mayBeBom(): boolean {
    return (
      this.#bytes.length < BOM.length &&
      BOM.slice(0, this.#bytes.length).every((byte, index) => this.#bytes.at(index) === byte)
    );
  }

  #readLine(state: { searched: number }): boolean {
    const end = this.#bytes.indexOf(LF, state.searched);
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
    const end = this.#bytes.indexOf(LF, 0);
    this.#bytes.drop(end < 0 ? this.#bytes.length : end + 1);
    if (end >= 0) this.#state = START;
    return end >= 0;
  }

  #readCompleteLine(end: number): void {
    const line = this.#bytes.slice(0, end);
    const framing = this.#isRecovering ? 'framed' : 'line';
    const value = parse(line);
    // A header may follow other bytes without a line break: malformed input, or a body that is longer than its length.
    const header = value === undefined ? headerAtEndOf(line) : -1;
    if (value !== undefined) {
      this.#onEvent({ kind: 'message', value, framing });
    } else if (header > 0) {
      const isMessage = this.#readBeforeHeader(line.subarray(0, header));
      this.#state = headerState(!isMessage);
    } else {
      this.#report('a line that is not JSON', 'line');
    }
    this.#isRecovering = false;
    this.#bytes.drop(header > 0 ? header : end + 1);
  }

  /** Whether the bytes are a message. */
  #readBeforeHeader(bytes: Buffer): boolean {
    const value = parse(bytes);
    if (value !== undefined) this.#onEvent({ kind: 'message', value, framing: 'framed' });
    else this.#report('bytes that are not JSON', 'framed');
    return value !== undefined;
  }

  /** A header ends with an empty line, within 8 KiB. Each line is checked as soon as it is complete. */
  #readHeader(state: HeaderState): boolean {
    while (true) {
      const end = this.#bytes.indexOf(LF, state.read);
      if (end < 0 && this.#bytes.length < MAX_HEADER_BYTES) return false;
      if (end < 0 || end >= MAX_HEADER_BYTES) return this.#leaveHeader(state);
      const line = this.#bytes.slice(state.read, end).toString('latin1').trimEnd();
      if (line === '') return this.#endHeader(state.fields, end + 1);
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
      if (!/^[\w-]+$/.test(name)) return this.#leaveHeader(state);
      state.fields.set(name, line.slice(colon + 1).trim());
      state.read = end + 1;
    }
  }

  #endHeader(fields: ReadonlyMap<string, string>, size: number): boolean {
    const text = fields.get('content-length');
    const length = text !== undefined && /^\d+$/.test(text) ? Number(text) : Number.NaN;
    this.#bytes.drop(size);
    if (length <= MAX_BYTES) {
      this.#isRecovering = false;
      this.#state = { kind: 'body', length, line: 0, searched: 0, previous: COLON };
    } else {
      this.#recover(`a header whose Content-Length is ${text ?? 'missing'}`);
    }
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

  #readBody(state: BodyState): boolean {
    if (!this.#mayBeJson(state)) {
      this.#recover('a frame whose Content-Length is too large, or whose body is not JSON');
      return true;
    }
    if (this.#bytes.length < state.length) return false;
    const value = parse(this.#bytes.slice(0, state.length));
    if (value === undefined) {
      this.#recover('a frame whose body is not JSON');
    } else {
      this.#state = START;
      this.#bytes.drop(state.length);
      this.#onEvent({ kind: 'message', value, framing: 'framed' });
    }
    return true;
  }

  /**
   * Whether the lines that have arrived may belong to one JSON value. In JSON a line break occurs only between tokens, so no
   * line ends with a header, and a line starts an object only after `[`, `,` or `:`.
   */
  #mayBeJson(state: BodyState): boolean {
    const body = this.#bytes.slice(0, state.length);
    for (let end = body.indexOf(LF, state.searched); end >= 0; end = body.indexOf(LF, end + 1)) {
      let first = state.line;
      let last = end - 1;
      while (first < end && WHITESPACE.has(body[first] ?? 0)) first += 1;
      while (last > first && WHITESPACE.has(body[last] ?? 0)) last -= 1;
      const opensObject = first < end && body[first] === OPEN_OBJECT;
      if (opensObject && ![COMMA, COLON, OPEN_ARRAY].includes(state.previous)) return false;
      if (isDigit(body[last]) && LENGTH_AT_END.test(body.toString('latin1', first, last + 1))) return false;
      if (first < end) state.previous = body[last] ?? 0;
      state.line = end + 1;
    }
    state.searched = body.length;
    return true;
  }

  /** Continues after the header as if there had been none. */
  #recover(reason: string): void {
    this.#report(reason, 'framed');
    this.#isRecovering = true;
    this.#state = START;
  }

  #report(reason: string, framing: Framing): void {
    if (!this.#isRecovering) this.#onEvent({ kind: 'malformed', reason, framing });
  }
}

function headerState(isDoubtful = false): HeaderState {
  return { kind: 'header', fields: new Map(), read: 0, isDoubtful };
}

/** The start of a header at the end of a line, or -1. At the start of a line it is read as a header before. */
function headerAtEndOf(line: Buffer): number {
  const text = line.toString('latin1').toLowerCase().trimEnd();
  const at = text.lastIndexOf(HEADER_START);
  return at > 0 && /^content-(?:length\s*:\s*\d+|type\s*:[^{}]*)$/.test(text.slice(at)) ? at : -1;
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The JSON value of the bytes, or undefined (which is not a JSON value) if they are not JSON in UTF-8. */
function parse(bytes: Buffer): unknown {
  // Decoding replaces invalid bytes by the same character, so different ids would become equal.
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
