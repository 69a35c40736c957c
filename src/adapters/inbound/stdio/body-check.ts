const LF = 0x0a;
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
  /** The last character before that line that is not whitespace. */
  #previous = ':';

  /** Whether the lines that have arrived may belong to one JSON value. `body` is what has arrived, from its start. */
  accepts(body: Buffer): boolean {
    for (let end = body.indexOf(LF, this.#searched); end >= 0; end = body.indexOf(LF, end + 1)) {
      const line = body.toString('latin1', this.#line, end).trim();
      if (line.startsWith('{') && !'[,:'.includes(this.#previous)) return false;
      if (LENGTH_AT_END.test(line)) return false;
      this.#previous = line.at(-1) ?? this.#previous;
      this.#line = end + 1;
    }
    this.#searched = body.length;
    return true;
  }
}
