const SPACES = /[^\S\n]|[⁰-₉²³¹]/;
const SAME: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '○': '〇',
  '◯': '〇',
  零: '〇',
  İ: 'i',
  '〜': '-',
  '−': '-',
};

/** Made when first needed: it takes milliseconds. */
let table: Uint16Array | undefined;
const CHUNK = 8_192;

/**
 * A text in which forms of the same character are equal, for comparison: half-width, lower case, one kind of space, dash and apostrophe. Line
 * ends stay, superscripts become spaces. It has the same length, so that a place in it is a place in the text.
 */
export function fold(text: string): string {
  table ??= Uint16Array.from({ length: 65_536 }, (_, code) => foldedCode(code));
  const folded = table;
  let result = '';
  for (let at = 0; at < text.length; at += CHUNK) {
    const codes = Array.from(
      { length: Math.min(CHUNK, text.length - at) },
      (_, index) => folded[text.charCodeAt(at + index)] ?? 0,
    );
    result += String.fromCharCode(...codes);
  }
  return result;
}

function foldedCode(code: number): number {
  if (code >= 0xff01 && code <= 0xff5e) return foldedCode(code - 0xfee0);
  const character = String.fromCharCode(code);
  if (code >= 0x2010 && code <= 0x2015) return 0x2d;
  const lower = character.toLowerCase();
  return (SAME[character] ?? (SPACES.test(character) ? ' ' : lower.length === 1 ? lower : character)).charCodeAt(0);
}
