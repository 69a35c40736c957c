import type { LoginSummary } from '../../application/ports/tool-server.ts';

/** A login in JSON, without its tokens: the same in the terminal and over REST. */
export function loginJson({ server, url, issuer, scopes, expiresAt, renewable }: LoginSummary) {
  return { server, url, issuer, scopes, expiresAt: expiresAt?.toISOString() ?? null, renewable };
}
