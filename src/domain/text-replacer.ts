/**
 * Replaces each occurrence of some texts, the longest at each position. The time hardly depends on how many they are, because most of a
 * text is skipped (Wu and Manber, 1994): a pair of characters says how far the next occurrence is away at least. Shorter texts than
 * `wholeBelow` are replaced only where no letter and no digit adjoins. The texts must have at least two characters.
 */
export function createReplacer(
  texts: readonly string[],
  replacement: string,
  wholeBelow: number,
): (text: string) => string {
  if (texts.length === 0) return (text) => text;
  const window = texts.reduce((shortest, { length }) => Math.min(shortest, length), 255);
  const shifts = new Uint8Array(0x10000).fill(window - 1);
  const byPair = new Map<number, string[]>();
  for (const text of [...texts].sort((a, b) => b.length - a.length)) {
    for (let at = 1; at < window; at += 1) {
      const pair = pairAt(text, at);
      shifts[pair] = Math.min(shifts[pair] ?? 0, window - 1 - at);
    }
    const pair = pairAt(text, window - 1);
    byPair.set(pair, [...(byPair.get(pair) ?? []), text]);
  }
  return (text) => {
    let replaced = '';
    let copied = 0;
    for (let end = window - 1; end < text.length; ) {
      const pair = pairAt(text, end);
      const shift = shifts[pair] ?? 0;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const start = end - window + 1;
      const found = byPair
        .get(pair)
        ?.find((one) => text.startsWith(one, start) && (one.length >= wholeBelow || isWhole(text, start, one.length)));
      if (found === undefined) {
        end += 1;
        continue;
      }
      replaced += `${text.slice(copied, start)}${replacement}`;
      copied = start + found.length;
      end = copied + window - 1;
    }
    return copied === 0 ? text : replaced + text.slice(copied);
  };
}

/** The characters before and at a position, as a number below 65,536. Different pairs may have the same. */
function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at - 1) << 8) ^ text.charCodeAt(at)) & 0xffff;
}

function isWhole(text: string, start: number, length: number): boolean {
  const isWord = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at));
  return !isWord(start - 1) && !isWord(start + length);
}
