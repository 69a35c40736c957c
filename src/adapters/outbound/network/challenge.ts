/** The scopes in a text, separated by spaces (RFC 6749, 3.3). */
export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}
