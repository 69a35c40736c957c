import { join } from 'node:path';
import type { LoginServices } from '../adapters/inbound/http/services.ts';
import type { OAuthConfig } from '../adapters/outbound/config/oauth-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { IssuerSignIn } from '../adapters/outbound/login/issuer-sign-in.ts';
import type { LoginEvent } from '../adapters/outbound/login/oauth-caller-logins.ts';
import { LoginFailure } from '../adapters/outbound/login/oauth-fetch.ts';
import { PendingFiles } from '../adapters/outbound/login/pending-files.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import { verifyIdToken } from '../adapters/outbound/oauth/id-token-verifier.ts';
import type { IssuerKeys } from '../adapters/outbound/oauth/issuer-keys.ts';
import type { PersonSignIn } from '../application/ports/person-sign-in.ts';
import { composeCallerLogins, learnPassing } from './logins.ts';
import type { Runtime } from './runtime.ts';
import { readSecret } from './secrets.ts';

interface Composed {
  readonly runtime: Runtime;
  readonly oauth: OAuthConfig | undefined;
  readonly publicUrl: string;
  /** The servers of the configuration as they are now. */
  readonly servers: () => readonly ServerEntry[];
  /** The keys of the issuer of the callers' access tokens. */
  readonly keys: IssuerKeys | undefined;
  readonly onEvent: (event: LoginEvent) => void;
}

/** Composes what the pages need on which callers sign in. */
export function composeLoginPages({ runtime, oauth, publicUrl, keys, ...composed }: Composed): LoginServices {
  const clientId = oauth?.clientId;
  const canSignIn = oauth !== undefined && clientId !== undefined && keys !== undefined;
  return {
    logins: composeCallerLogins(runtime, composed),
    servers: () => composed.servers().flatMap(({ name, login }) => (login === 'per_caller' ? [name] : [])),
    people: canSignIn ? composePersonSignIn(runtime, { ...oauth, clientId }, keys) : undefined,
    publicUrl,
    folder: join(runtime.folder, 'page'),
  };
}

function composePersonSignIn(
  { config, clock, redactor, values, loginsKey }: Runtime,
  { clientSecret, ...oauth }: OAuthConfig & { readonly clientId: string },
  keys: IssuerKeys,
): PersonSignIn {
  const { callerClaim, groupsClaim } = oauth;
  return new IssuerSignIn({
    ...oauth,
    fetch: createProxyFetch(process.env).fetch,
    clock,
    learn: learnPassing(redactor),
    clientSecret: async (signal) => {
      if (clientSecret === undefined) return undefined;
      const read = await readSecret(clientSecret, values, signal);
      if (read.isErr()) throw new LoginFailure(`http.oauth.client_secret: ${read.error}`);
      return read.value.trim();
    },
    // Names and groups are in the token only if it is asked for them.
    scopes: [...(callerClaim === 'sub' ? [] : ['profile', 'email']), ...(groupsClaim === undefined ? [] : ['groups'])],
    pending: new PendingFiles(config.gateway.logins, clock, loginsKey, 'person'),
    proofs: new PendingFiles(config.gateway.logins, clock, loginsKey, 'proof'),
    verify: (idToken, nonce) => verifyIdToken(idToken, nonce, { ...oauth, keys, clock }),
  });
}
