/** What a server says about the login that it requires: the parameters of a `WWW-Authenticate` header with the scheme `Bearer`. */
export interface Challenge {
  readonly resourceMetadata: string | undefined;
  readonly scope: string | undefined;
  readonly error: string | undefined;
}

/** A scheme or a value, or a parameter, quoted or not. */
const PART = /([^\s,=]+)(?:\s*(=)\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*)))?/g;

/** The first challenge with the scheme `Bearer`, which may follow others (RFC 9110, 11.6.1). */
export function readChallenge(header: string | null): Challenge | undefined {
  let parameters: Map<string, string> | undefined;
  for (const [, name = '', equals, quoted, plain = ''] of (header ?? '').matchAll(PART)) {
    if (equals !== undefined) parameters?.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain);
    else if (parameters !== undefined) break;
    else if (name.toLowerCase() === 'bearer') parameters = new Map();
  }
  if (parameters === undefined) return undefined;
  const [resourceMetadata, scope, error] = ['resource_metadata', 'scope', 'error'].map((name) => parameters?.get(name));
  return { resourceMetadata, scope, error };
}

/** The scopes in a text, which spaces separate (RFC 6749, 3.3). */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}
