/** A secret as it is, and in base64. The redactor knows how JSON and URLs write a text. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}

/** The password in a URL, with or without a scheme, in the forms in which a message may contain it; none if there is no password. */
export function passwordsOf(text: string): readonly string[] {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  if (password === '') return [];
  const plain = decode(password);
  return [
    ...new Set([
      password,
      plain,
      Buffer.from(`${decode(username)}:${plain}`)
        .toString('base64')
        .replace(/=+$/, ''),
    ]),
  ];
}

/** A malformed escape is taken as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
