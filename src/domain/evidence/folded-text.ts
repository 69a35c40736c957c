const SINGLE: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '○': '〇',
  '◯': '〇',
  İ: 'i',
  '〜': '-',
  '−': '-',
};

/**
 * A text in which forms of the same character are equal, for comparison: half-width, lower case, one kind of space, dash and apostrophe. Line
 * ends stay, superscripts become spaces. It has the same length, so that a place in it is a place in the text.
 */
export function fold(text: string): string {
  return text
    .replace(/[^\S\n ]|[⁰-₉²³¹‐-―‘’○◯İ〜−！-～]/g, (character) => {
      const code = character.charCodeAt(0);
      if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0);
      return SINGLE[character] ?? (code >= 0x2010 && code <= 0x2015 ? '-' : ' ');
    })
    .toLowerCase();
}
