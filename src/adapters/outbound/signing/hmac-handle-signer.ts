import { createHmac, hkdfSync, randomUUID, timingSafeEqual } from 'node:crypto';
import type { HandleSigner } from '../../../application/ports/callers.ts';

const INFO = 'openai-responses-mcp/long-answers/1';
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 16;

/**
 * Signs with a key that is derived from the API key, so that every process with the same API key has it. Where the API key may change, `apiKeys` has
 * the current one first; a signature with any of them is valid.
 */
export class HmacHandleSigner implements HandleSigner {
  readonly #apiKeys: () => readonly string[];

  constructor(apiKeys: string | (() => readonly string[])) {
    this.#apiKeys = typeof apiKeys === 'string' ? () => [apiKeys] : apiKeys;
  }

  sign(parts: readonly string[]): string {
    const [current = randomUUID()] = this.#apiKeys();
    return signed(parts, current);
  }

  verify(parts: readonly string[], signature: string): boolean {
    const received = Buffer.from(signature);
    const isOf = (apiKey: string) => {
      const expected = Buffer.from(signed(parts, apiKey));
      // The length of a signature is no secret.
      return expected.length === received.length && timingSafeEqual(expected, received);
    };
    return this.#apiKeys().map(isOf).includes(true);
  }
}

function signed(parts: readonly string[], apiKey: string): string {
  const key = new Uint8Array(hkdfSync('sha256', apiKey, '', INFO, KEY_BYTES));
  const digest = createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  return digest.subarray(0, SIGNATURE_BYTES).toString('base64url');
}
