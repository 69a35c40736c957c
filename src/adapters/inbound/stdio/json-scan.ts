const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What may stand outside of JSON's strings: blanks, structure, numbers, and the letters of true, false and null. */
const OUTSIDE = new Set([...Buffer.from(' \t\r\n{}[]:,+-.0123456789eEtrufalsn"')]);

/**
 * Follows a JSON text byte by byte, as it arrives, and sees when what came can no longer be one: a value that is whole but goes
 * on, a line break inside a string, a letter where none may be. It need not see every fault: JSON.parse does.
 */
export class JsonScan {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isWhole = false;

  /** Takes the next bytes; false once they cannot be right. */
  accepts(bytes: Uint8Array): boolean {
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (this.#isInString) {
        if (byte < 0x20) return false;
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInString = false;
      } else if (!this.#acceptsOutside(byte)) {
        return false;
      }
    }
    return true;
  }

  #acceptsOutside(byte: number): boolean {
    const isBlank = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
    if (isBlank) return true;
    if (this.#isWhole || !OUTSIDE.has(byte)) return false;
    if (byte === QUOTE) this.#isInString = true;
    else if (byte === 0x7b || byte === 0x5b) this.#depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      this.#depth -= 1;
      this.#isWhole = this.#depth <= 0;
    }
    return true;
  }
}
