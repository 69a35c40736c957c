import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { HandleSigner } from '../../../application/ports/callers.ts';

const INFO = 'openai-responses-mcp/long-answers/1';
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 16;

/** Signs with a key that is derived from the API key, so that every process with the same API key has it. */
export class HmacHandleSigner implements HandleSigner {
  readonly #key: Uint8Array;

  constructor(apiKey: string) {
    this.#key = new Uint8Array(hkdfSync('sha256', apiKey, '', INFO, KEY_BYTES));
  }

  sign(parts: readonly string[]): string {
    const digest = createHmac('sha256', this.#key).update(JSON.stringify(parts)).digest();
    return digest.subarray(0, SIGNATURE_BYTES).toString('base64url');
  }

  verify(parts: readonly string[], signature: string): boolean {
    const [expected, received] = [Buffer.from(this.sign(parts)), Buffer.from(signature)];
    // The length of a signature is no secret.
    return expected.length === received.length && timingSafeEqual(expected, received);
  }
}
