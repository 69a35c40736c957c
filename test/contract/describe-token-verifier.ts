import { describe, expect, test } from 'vitest';
import type { TokenVerifier } from '../../src/application/ports/callers.ts';

/** A verifier, and tokens of which it can say something. */
export interface StartedVerifier {
  readonly verifier: TokenVerifier;
  /** Those of two callers. */
  readonly valid: readonly [string, string];
  readonly invalid: string;
  readonly withoutScope: string;
}

/** What every TokenVerifier promises (see the port). */
export function describeTokenVerifier(name: string, start: (isIssuerDown: boolean) => Promise<StartedVerifier>): void {
  describe(`${name} as a TokenVerifier`, () => {
    test.each([false, true])('is ready when a token could be checked (issuer down: %s)', async (isIssuerDown) => {
      const { verifier, valid } = await start(isIssuerDown);
      await verifier.verify(valid[0]);
      expect([verifier.isReady, verifier.isUp]).toEqual([!isIssuerDown, !isIssuerDown]);
    });

    test('names the caller of a valid token: short, without whitespace, and another for each', async () => {
      const { verifier, valid } = await start(false);
      const callers = await Promise.all(
        valid.map(async (token) => (await verifier.verify(token))._unsafeUnwrap().caller),
      );
      expect(new Set(callers).size).toBe(2);
      for (const caller of callers) expect(caller).toMatch(/^\S{1,300}$/);
    });

    test('says what is wrong with a token that is not valid', async () => {
      const { verifier, invalid } = await start(false);
      const error = (await verifier.verify(invalid))._unsafeUnwrapErr();
      expect(error).toEqual({ kind: 'invalid_token', problem: expect.any(String) });
    });

    test('tells a token without the scopes from one that is not valid', async () => {
      const { verifier, withoutScope } = await start(false);
      expect((await verifier.verify(withoutScope))._unsafeUnwrapErr()).toEqual({ kind: 'insufficient_scope' });
    });

    test('says nothing about a token whose issuer does not answer, but when to ask again', async () => {
      const { verifier, valid } = await start(true);
      const error = (await verifier.verify(valid[0]))._unsafeUnwrapErr();
      expect(error).toEqual({ kind: 'issuer_unavailable', retryAfterMs: expect.any(Number) });
    });

    test.each(['', ' ', 'a.b.c', 'x'.repeat(100_000), '\u0000'])(
      'never rejects, whatever the token is (%#)',
      async (token) => {
        const { verifier } = await start(false);
        expect((await verifier.verify(token)).isErr()).toBe(true);
      },
    );
  });
}
