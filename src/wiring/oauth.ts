import type { CheckedOAuth } from '../adapters/inbound/cli/doctor-checks.ts';
import type { OAuthConfig } from '../adapters/outbound/config/oauth-config.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import { readKeySet } from '../adapters/outbound/oauth/issuer-documents.ts';
import { IssuerKeys, TIME_LIMIT_MS } from '../adapters/outbound/oauth/issuer-keys.ts';
import { JwtTokenVerifier } from '../adapters/outbound/oauth/jwt-token-verifier.ts';
import { withDeadline } from '../application/async/deadline.ts';
import { repeatUntil } from '../application/async/repeat-until.ts';
import type { TokenVerifier } from '../application/ports/token-verifier.ts';
import type { Runtime } from './runtime.ts';

/** Composes the verifier of access tokens. */
export function composeTokenVerifier(
  oauth: OAuthConfig,
  { clock, logger, atClose }: Pick<Runtime, 'clock' | 'logger' | 'atClose'>,
): TokenVerifier {
  const keys = new IssuerKeys({ issuer: oauth.issuer, clock, logger, read: keyReader(oauth) });
  const closed = new AbortController();
  atClose(async () => closed.abort());
  // A wrong configuration is reported at the start, and the first caller need not wait. Without the keys, no caller would be sent here (`/readyz`).
  const read = async () => {
    await keys.prepare();
    return keys.areRead;
  };
  void repeatUntil(read, clock, closed.signal);
  return new JwtTokenVerifier({ ...oauth, keys, clock });
}

export function checkedOAuth(oauth: OAuthConfig, { clock }: Runtime): CheckedOAuth {
  const countKeys = async (signal: AbortSignal) => {
    const { outcome } = await withDeadline(clock, TIME_LIMIT_MS, signal, keyReader(oauth));
    return outcome.map(({ keys }) => keys.length);
  };
  return { ...oauth, countKeys };
}

function keyReader(oauth: OAuthConfig) {
  const { fetch } = createProxyFetch(process.env);
  return (signal: AbortSignal) => readKeySet({ ...oauth, fetch }, signal);
}
