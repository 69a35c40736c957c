import type { JWTPayload } from 'jose';

/** Whether a token has every required scope. */
export function hasScopes({ scope, scp }: JWTPayload, required: readonly string[]): boolean {
  const granted = listOf(scope);
  // Okta and Entra ID.
  const inScp = listOf(scp);
  return required.every((name) => {
    // A client asks Entra ID for `api://.../ask`, and the token has `ask`.
    const short = name.replace(/^[a-z]+:\/\/.*\//, '');
    return granted.includes(name) || inScp.includes(name) || inScp.includes(short);
  });
}

function listOf(scopes: unknown): readonly unknown[] {
  if (Array.isArray(scopes)) return scopes;
  return typeof scopes === 'string' ? scopes.split(' ').filter((scope) => scope !== '') : [];
}
