import { err, ok, type Result } from 'neverthrow';
import type { TokenError, TokenOwner, TokenVerifier } from '../../src/application/ports/callers.ts';

/** Knows the configured tokens only, and records what it was asked. */
export class FakeTokenVerifier implements TokenVerifier {
  isReady: boolean;
  readonly asked: string[] = [];
  readonly #known: Readonly<Record<string, TokenOwner | TokenError>>;

  constructor(known: Readonly<Record<string, TokenOwner | TokenError>>, isReady = true) {
    this.#known = known;
    this.isReady = isReady;
  }

  get isUp(): boolean {
    return this.isReady;
  }

  verify(token: string): Promise<Result<TokenOwner, TokenError>> {
    this.asked.push(token);
    const known = this.#known[token] ?? { kind: 'invalid_token', problem: 'wrong_signature' };
    return Promise.resolve('caller' in known ? ok(known) : err(known));
  }
}
