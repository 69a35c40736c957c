import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HandleSigner } from '../../src/application/ports/callers.ts';
import { anyCharacter } from '../support/any-text.ts';

const PARTS = ['http:alice', 'answer_detailed', 'resp_1'];

/** What every HandleSigner guarantees. `start` returns a new signer, as in another process, with an API key. */
export function describeHandleSigner(name: string, start: (apiKey: string) => HandleSigner): void {
  describe(`${name} as a HandleSigner`, () => {
    const signer = start('sk-one');

    test('signs anything with 22 characters that fit into a handle, and accepts the signature', () => {
      fc.assert(
        fc.property(fc.array(fc.string({ unit: anyCharacter })), (parts) => {
          const signature = signer.sign(parts);
          expect(signature).toMatch(/^[A-Za-z0-9_-]{22}$/);
          expect(signer.verify(parts, signature)).toBe(true);
        }),
      );
    });

    test('signs the same in another process with the same API key', () => {
      expect(start('sk-one').sign(PARTS)).toBe(signer.sign(PARTS));
      expect(start('sk-one').verify(PARTS, signer.sign(PARTS))).toBe(true);
    });

    test('does not accept a signature with another API key', () => {
      expect(signer.verify(PARTS, start('sk-two').sign(PARTS))).toBe(false);
    });

    test.each([
      ['another owner', ['http:bob', 'answer_detailed', 'resp_1']],
      ['another division', ['http:aliceanswer_detailed', '', 'resp_1']],
      ['commas and quotes', ['http:alice","answer_detailed', 'resp_1']],
      ['more parts', ['http:alice', 'answer_detailed', 'resp_1', '']],
    ])('does not accept the signature of %s', (_, parts) => {
      expect(signer.verify(PARTS, signer.sign(parts))).toBe(false);
    });

    test('does not accept a signature in which any character is another', () => {
      const signature = signer.sign(PARTS);
      for (const [index, character] of [...signature].entries()) {
        const other = character === 'A' ? 'B' : 'A';
        expect(signer.verify(PARTS, signature.slice(0, index) + other + signature.slice(index + 1))).toBe(false);
      }
    });

    test.each([
      ['none', () => ''],
      ['a shorter one', (signature: string) => signature.slice(0, -1)],
      ['a longer one', (signature: string) => `${signature}A`],
      ['one with padding', (signature: string) => `${signature}==`],
      ['one of other characters', () => '語'.repeat(22)],
    ])('does not accept %s', (_, changed) => {
      expect(signer.verify(PARTS, changed(signer.sign(PARTS)))).toBe(false);
    });
  });
}
