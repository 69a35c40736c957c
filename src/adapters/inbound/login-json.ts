import type { LoginSummary } from '../../application/ports/tool-server.ts';
import { ownerName } from '../../domain/gateway/login-owner.ts';

/** A login in JSON, without its tokens: the same in the terminal and over REST. */
export function loginJson({ server, owner, url, issuer, scopes, expiresAt, renewable }: LoginSummary) {
  const caller = owner === undefined ? null : ownerName(owner);
  return { server, caller, url, issuer, scopes, expiresAt: expiresAt?.toISOString() ?? null, renewable };
}
