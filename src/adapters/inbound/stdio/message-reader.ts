import { isUtf8 } from 'node:buffer';
import { ByteBuffer } from './byte-buffer.ts';

/** How a message is framed: as a line, or behind a `Content-Length` header (transports 1.1). */
export type Framing = 'line' | 'framed';

/** What stands in the input: a message, or bytes that are none. */
export type Found =
  | { readonly kind: 'message'; readonly value: unknown; readonly framing: Framing }
  | { readonly kind: 'broken'; readonly reason: string; readonly framing: Framing };

/** The longest message, in bytes (ruling 3). */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_HEADER_BYTES = 8 * 1024;
const LENGTH_AT_END = /content-length\s*:\s*\d+$/i;
const HEADER_START = 'content-';
const LF = 0x0a;
const [COMMA, COLON, OPEN_ARRAY, OPEN_OBJECT] = [0x2c, 0x3a, 0x5b, 0x7b];
const BLANKS = new Set([0x20, 0x09, 0x0d, LF]);
const BOM = [0xef, 0xbb, 0xbf];

/** Where reading stands: before a message, inside a line or a frame, or in a line too long to be kept. */
type State =
  | { readonly kind: 'start' }
  | { readonly kind: 'line'; searched: number }
  | HeaderState
  | BodyState
  | { readonly kind: 'endless' };

interface HeaderState {
  readonly kind: 'header';
  readonly fields: Map<string, string>;
  read: number;
  /** It was found at the end of a malformed line: if it is not a header, it was a part of that line, which is reported. */
  readonly isDoubtful: boolean;
}

interface BodyState {
  readonly kind: 'body';
  readonly length: number;
  /** Where the line begins whose end has not arrived, and how far it was searched for one. */
  line: number;
  searched: number;
  /** The last byte before it that is not a blank. */
  previous: number;
}

const START: State = { kind: 'start' };

/**
 * Turns bytes into messages, however they are cut: lines of JSON, or JSON behind `Content-Length` headers, in any mix.
 *
 * What is no message is told once, as broken, and costs nothing around it: behind a frame that cannot be right, reading
 * goes on at the next header or message (ruling 3). Work grows linearly with the bytes.
 */
export class MessageReader {
  readonly #onFound: (found: Found) => void;
  readonly #bytes = new ByteBuffer();
  #state: State = START;
  /** Behind a broken frame: what comes first was its content, so it says nothing about lines, and is not reported twice. */
  #isRecovering = false;

  constructor(onFound: (found: Found) => void) {
    this.#onFound = onFound;
  }

  push(chunk: Uint8Array): void {
    this.#bytes.append(chunk);
    this.#run();
  }

  /** The end of input: the last line may lack its end, the last frame some of its bytes. */
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

  /** Takes one step; false when it takes more bytes to go on. */
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
      case 'endless':
        return this.#skipLine();
    }
  }

  /** Only the start of a message tells how it is framed: a text may hold whatever looks like a header. */
  #readStart(): boolean {
    while (this.#skipBlank());
    const start = this.#bytes.slice(0, HEADER_START.length).toString('latin1').toLowerCase();
    const isPartial = start.length < HEADER_START.length;
    if (isPartial && HEADER_START.startsWith(start)) return false;
    if (isPartial && this.#mayBeBom()) return false;
    this.#state =
      start === HEADER_START
        ? { kind: 'header', fields: new Map(), read: 0, isDoubtful: false }
        : { kind: 'line', searched: 0 };
    return true;
  }

  #skipBlank(): boolean {
    const first = this.#bytes.at(0);
    const isBom = BOM.every((byte, index) => this.#bytes.at(index) === byte);
    if (isBom) this.#bytes.drop(BOM.length);
    else if (first !== undefined && BLANKS.has(first)) this.#bytes.drop(1);
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
      this.#foundLine(end);
      return true;
    }
    state.searched = this.#bytes.length;
    if (this.#bytes.length <= MAX_BYTES) return false;
    this.#broken('a line of more than 256 MiB', 'line');
    this.#state = { kind: 'endless' };
    return true;
  }

  #skipLine(): boolean {
    const end = this.#bytes.indexOf(LF, 0);
    this.#bytes.drop(end < 0 ? this.#bytes.length : end + 1);
    if (end >= 0) this.#state = START;
    return end >= 0;
  }

  #foundLine(end: number): void {
    const line = this.#bytes.slice(0, end);
    const framing = this.#isRecovering ? 'framed' : 'line';
    const value = parse(line);
    // A frame may follow garbage, or a body whose length lied, without a line break.
    const header = value === undefined ? headerAtEndOf(line) : -1;
    if (value !== undefined) {
      this.#onFound({ kind: 'message', value, framing });
    } else if (header > 0) {
      const isMessage = this.#foundBeforeHeader(line.subarray(0, header));
      this.#state = { kind: 'header', fields: new Map(), read: 0, isDoubtful: !isMessage };
    } else {
      this.#broken('a line that is not JSON', 'line');
    }
    this.#isRecovering = false;
    this.#bytes.drop(header > 0 ? header : end + 1);
  }

  /** Whether the bytes are a message. */
  #foundBeforeHeader(bytes: Buffer): boolean {
    const value = parse(bytes);
    if (value !== undefined) this.#onFound({ kind: 'message', value, framing: 'framed' });
    else this.#broken('bytes that are not JSON', 'framed');
    return value !== undefined;
  }

  /** A header ends with a blank line, within 8 KiB; its lines are judged one by one, as soon as they are whole. */
  #readHeader(state: HeaderState): boolean {
    while (true) {
      const end = this.#bytes.indexOf(LF, state.read);
      if (end < 0 && this.#bytes.length < MAX_HEADER_BYTES) return false;
      if (end < 0 || end >= MAX_HEADER_BYTES) return this.#foundNoHeader(state);
      const line = this.#bytes.slice(state.read, end).toString('latin1').trimEnd();
      if (line === '') return this.#foundHeader(state.fields, end + 1);
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
      if (!/^[\w-]+$/.test(name)) return this.#foundNoHeader(state);
      state.fields.set(name, line.slice(colon + 1).trim());
      state.read = end + 1;
    }
  }

  #foundHeader(fields: ReadonlyMap<string, string>, size: number): boolean {
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

  /** A header that a line breaks off: that line is read as what it may be; a first line is garbage itself. */
  #foundNoHeader({ read: at, isDoubtful }: HeaderState): boolean {
    if (isDoubtful) this.#state = START;
    else this.#recover('a header that is none');
    this.#bytes.drop(at);
    if (at === 0) this.#state = { kind: 'line', searched: 0 };
    return true;
  }

  #readBody(state: BodyState): boolean {
    if (!this.#mayBeJson(state)) {
      this.#recover('a frame that is longer than its message');
      return true;
    }
    if (this.#bytes.length < state.length) return false;
    const value = parse(this.#bytes.slice(0, state.length));
    if (value === undefined) {
      this.#recover('a frame whose body is not JSON');
    } else {
      this.#state = START;
      this.#bytes.drop(state.length);
      this.#onFound({ kind: 'message', value, framing: 'framed' });
    }
    return true;
  }

  /** Looks at the lines that have arrived. In JSON a line break stands only between tokens, never in a text. */
  #mayBeJson(state: BodyState): boolean {
    const body = this.#bytes.slice(0, state.length);
    for (let end = body.indexOf(LF, state.searched); end >= 0; end = body.indexOf(LF, end + 1)) {
      let first = state.line;
      let last = end - 1;
      while (first < end && BLANKS.has(body[first] ?? 0)) first += 1;
      while (last > first && BLANKS.has(body[last] ?? 0)) last -= 1;
      const opensObject = first < end && body[first] === OPEN_OBJECT;
      if (opensObject && ![COMMA, COLON, OPEN_ARRAY].includes(state.previous)) return false;
      if (isDigit(body[last]) && LENGTH_AT_END.test(body.toString('latin1', first, last + 1))) return false;
      if (first < end) state.previous = body[last] ?? 0;
      state.line = end + 1;
    }
    state.searched = body.length;
    return true;
  }

  /** Reads on behind a header as if there had been none. */
  #recover(reason: string): void {
    this.#broken(reason, 'framed');
    this.#isRecovering = true;
    this.#state = START;
  }

  #broken(reason: string, framing: Framing): void {
    if (!this.#isRecovering) this.#onFound({ kind: 'broken', reason, framing });
  }
}

/** Where the header begins with which a line ends; -1 if it does not end with one. */
function headerAtEndOf(line: Buffer): number {
  const text = line.toString('latin1').toLowerCase().trimEnd();
  const at = text.lastIndexOf(HEADER_START);
  return at > 0 && /^content-(?:length\s*:\s*\d+|type\s*:[^{}]*)$/.test(text.slice(at)) ? at : -1;
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The JSON value of some bytes; undefined, which JSON does not know, if they are not JSON in UTF-8. */
function parse(bytes: Buffer): unknown {
  // Otherwise different bytes of an id would become the same replacement character.
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
