const HIDDEN = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]/gu;

/** Shows each control and hidden character of a text as `<U+200B>`. */
export function withVisibleCharacters(text: string): string {
  const codeOf = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return text.replace(HIDDEN, (character) => `<U+${codeOf(character)}>`);
}
