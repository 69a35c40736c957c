const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** What numbers, true, false and null are made of. */
const SCALAR = new Set([...Buffer.from('+-.0123456789eEtrufalsn')]);
const BOM = [0xef, 0xbb, 0xbf];

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'more or end' | 'more of a scalar';

/**
 * Follows a JSON text byte by byte, as it arrives, and sees when what came can no longer be one: a value where none may be, a
 * bracket that closes another, a line break inside a string. It need not see every fault: JSON.parse does.
 */
export class JsonScan {
  /** The brackets that are open, a byte each: a frame may hold nothing else. */
  #open = new Uint8Array(64);
  #depth = 0;
  #expected: Expected = 'value';
  #isInString = false;
  #isEscaped = false;
  #taken = 0;

  /** Takes the next bytes; false once they cannot be right. */
  accepts(bytes: Uint8Array): boolean {
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (this.#isInString) {
        if (byte < 0x20) return false;
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (!this.#acceptsOutside(byte) && byte !== BOM[this.#taken + index]) {
        return false;
      }
    }
    this.#taken += bytes.length;
    return true;
  }

  #acceptsOutside(byte: number): boolean {
    const isBlank = byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    if (isBlank) {
      if (this.#expected === 'more of a scalar') this.#expected = 'more or end';
      return true;
    }
    switch (byte) {
      case QUOTE:
        return this.#acceptsString();
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        if (!this.#isValueExpected()) return false;
        this.#push(byte);
        this.#expected = byte === OPEN_OBJECT ? 'key or end' : 'value or end';
        return true;
      case CLOSE_OBJECT:
        return this.#acceptsClose(OPEN_OBJECT, 'key or end');
      case CLOSE_ARRAY:
        return this.#acceptsClose(OPEN_ARRAY, 'value or end');
      case COMMA:
        if (!this.#isValueWhole() || this.#depth === 0) return false;
        this.#expected = this.#open[this.#depth - 1] === OPEN_OBJECT ? 'key' : 'value';
        return true;
      case COLON:
        if (this.#expected !== 'colon') return false;
        this.#expected = 'value';
        return true;
      default:
        return this.#acceptsScalar(byte);
    }
  }

  #push(bracket: number): void {
    if (this.#depth === this.#open.length) {
      const wider = new Uint8Array(2 * this.#depth);
      wider.set(this.#open);
      this.#open = wider;
    }
    this.#open[this.#depth] = bracket;
    this.#depth += 1;
  }

  #acceptsString(): boolean {
    const isKey = this.#expected === 'key' || this.#expected === 'key or end';
    if (!isKey && !this.#isValueExpected()) return false;
    this.#isInString = true;
    this.#expected = isKey ? 'colon' : 'more or end';
    return true;
  }

  #acceptsClose(open: number, ifEmpty: Expected): boolean {
    const isOpen = this.#depth > 0 && this.#open[this.#depth - 1] === open;
    if (!isOpen || !(this.#isValueWhole() || this.#expected === ifEmpty)) return false;
    this.#depth -= 1;
    this.#expected = 'more or end';
    return true;
  }

  #acceptsScalar(byte: number): boolean {
    if (!SCALAR.has(byte) || !(this.#isValueExpected() || this.#expected === 'more of a scalar')) return false;
    this.#expected = 'more of a scalar';
    return true;
  }

  #isValueExpected(): boolean {
    return this.#expected === 'value' || this.#expected === 'value or end';
  }

  #isValueWhole(): boolean {
    return this.#expected === 'more or end' || this.#expected === 'more of a scalar';
  }
}
