import { getCookie, setCookie } from 'hono/cookie';
import type { SecretOf } from '../../../application/ports/caller-logins.ts';
import type { HttpRequest } from './request.ts';

interface Begun {
  readonly id: string;
  readonly secret: string;
  readonly maxAgeSeconds: number;
}

/**
 * The cookies that prove that a browser has begun something, one for each, so that several can be in progress. They are no credentials: each ends one
 * thing, once. Beyond loopback, their prefix keeps other hosts of the domain from setting them.
 */
export function loginCookies(publicUrl: string) {
  const secure = new URL(publicUrl).protocol === 'https:';
  const options = { httpOnly: true, sameSite: 'Lax', secure, path: '/' } as const;
  const nameOf = (id: string) => `${secure ? '__Host-' : ''}login-${id}`;
  return {
    set: (c: HttpRequest, { id, secret, maxAgeSeconds: maxAge }: Begun) =>
      setCookie(c, nameOf(id), secret, { ...options, maxAge }),
    /** Reads the secrets of the browser, and forgets each that is read, because it is used once. */
    used:
      (c: HttpRequest): SecretOf =>
      (id) => {
        const secret = getCookie(c, nameOf(id));
        if (secret !== undefined) setCookie(c, nameOf(id), '', { ...options, maxAge: 0 });
        return secret;
      },
  };
}
