/** Whether a response refuses a request that has no valid token. */
export function isBearerChallenge({ status, headers }: Response): boolean {
  return status === 401 && /(?:^|,)\s*Bearer\b/i.test(headers.get('www-authenticate') ?? '');
}

/** The scopes in a text, separated by spaces (RFC 6749, 3.3). */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}
