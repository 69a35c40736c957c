import type { HandleSigner } from '../../src/application/ports/callers.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Signs with a checksum, which anyone could compute. Another key has other signatures. */
export class FakeHandleSigner implements HandleSigner {
  readonly #key: string;

  constructor(key = 'key') {
    this.#key = key;
  }

  sign(parts: readonly string[]): string {
    let sum = 1;
    for (const character of JSON.stringify([this.#key, ...parts])) {
      sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
    }
    return Array.from({ length: 22 }, (_, index) => ALPHABET[(sum >> index) % ALPHABET.length]).join('');
  }

  verify(parts: readonly string[], signature: string): boolean {
    return this.sign(parts) === signature;
  }
}
