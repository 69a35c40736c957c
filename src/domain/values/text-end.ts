/** A text without these characters at its end. A loop, because a pattern for the end of a text tries each character of a run as its beginning. */
export function withoutEnd(text: string, characters: RegExp): string {
  let end = text.length;
  while (end > 0 && characters.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
