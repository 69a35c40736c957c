/** Whether a server refuses a request until it has a token. */
export function isBearerChallenge({ status, headers }: Response): boolean {
  return status === 401 && /(?:^|,)\s*Bearer\b/i.test(headers.get('www-authenticate') ?? '');
}

/** The scopes in a text, which spaces separate (RFC 6749, 3.3). */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}
