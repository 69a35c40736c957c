import { isUnencrypted } from '../network/addresses.ts';

/** How this program gets tokens without a person: the parameters of its request, beside the scope. */
export interface Machine {
  readonly grant_type: string;
}

/** The kinds of login, by `auth.grant`: a person signs in with a browser, and the login is on disk; or this program signs in as a machine. */
const KINDS = {
  authorization_code: 'person',
  client_credentials: { grant_type: 'client_credentials' },
} as const satisfies Readonly<Record<string, 'person' | Machine>>;

export type Grant = keyof typeof KINDS;

/** The kind of a login; without the key `auth`, a person signs in when the server asks for it. */
export function kindOf(auth: { readonly grant: Grant } | undefined): 'person' | Machine {
  return KINDS[auth?.grant ?? 'authorization_code'];
}

/** How requests to a server get their credentials: from a header of the configuration, by a login, or not at all, because others could read a token. */
export function credentialsOf(server: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: { readonly grant: Grant } | undefined;
}): 'header' | 'unencrypted' | Grant {
  if (Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization')) return 'header';
  return isUnencrypted(server.url) ? 'unencrypted' : (server.auth?.grant ?? 'authorization_code');
}
