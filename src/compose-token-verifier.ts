import type { OAuthConfig } from './adapters/outbound/config/oauth-config.ts';
import { ProxyFetches } from './adapters/outbound/mcp-client/proxy-fetches.ts';
import { readKeySet } from './adapters/outbound/oauth/issuer-documents.ts';
import { IssuerKeys } from './adapters/outbound/oauth/issuer-keys.ts';
import { JwtTokenVerifier } from './adapters/outbound/oauth/jwt-token-verifier.ts';
import type { TokenVerifier } from './application/ports/token-verifier.ts';
import type { Runtime } from './bootstrap.ts';

/** Composes the verifier of access tokens. Import this only if an authorization server is configured. */
export function composeTokenVerifier(
  oauth: OAuthConfig,
  { clock, logger }: Pick<Runtime, 'clock' | 'logger'>,
): TokenVerifier {
  const fetches = new ProxyFetches(process.env);
  const proxied: typeof fetch = async (url, init) => (await fetches.fetchFor(String(url)))(url, init);
  const { issuer } = oauth;
  const read = (signal: AbortSignal) => readKeySet({ ...oauth, fetch: proxied }, signal);
  const keys = new IssuerKeys({ issuer, clock, logger, read });
  // A wrong configuration is reported at the start, and the first caller need not wait.
  void keys.prepare();
  return new JwtTokenVerifier({ ...oauth, keys, clock });
}
