const LF = 0x0a;
const [COMMA, COLON, OPEN_ARRAY, OPEN_OBJECT] = [0x2c, 0x3a, 0x5b, 0x7b];
const WHITESPACE = new Set([0x20, 0x09, 0x0d, LF]);
const DIGITS = new Set(Buffer.from('0123456789'));
const LENGTH_AT_END = /content-length\s*:\s*\d+$/i;

/**
 * Checks the body of a frame while it arrives, so that a frame whose length is too large does not hide the messages after it.
 * In JSON a line break occurs only between tokens: no line ends with a header, and a line starts an object only after `[`,
 * `,` or `:`.
 */
export class BodyCheck {
  /** The start of the line whose end has not arrived, and how far it was searched for its end. */
  #line = 0;
  #searched = 0;
  /** The last byte before that line that is not whitespace. */
  #previous = COLON;

  /** Whether the lines that have arrived may belong to one JSON value. `body` is what has arrived, from its start. */
  accepts(body: Buffer): boolean {
    for (let end = body.indexOf(LF, this.#searched); end >= 0; end = body.indexOf(LF, end + 1)) {
      let first = this.#line;
      let last = end - 1;
      while (first < end && WHITESPACE.has(body[first] ?? 0)) first += 1;
      while (last > first && WHITESPACE.has(body[last] ?? 0)) last -= 1;
      const opensObject = first < end && body[first] === OPEN_OBJECT;
      if (opensObject && ![COMMA, COLON, OPEN_ARRAY].includes(this.#previous)) return false;
      const endsInDigit = DIGITS.has(body[last] ?? 0);
      if (endsInDigit && LENGTH_AT_END.test(body.toString('latin1', first, last + 1))) return false;
      if (first < end) this.#previous = body[last] ?? 0;
      this.#line = end + 1;
    }
    this.#searched = body.length;
    return true;
  }
}
