import type { TextPiece } from './text-piece.ts';
import type { Place } from './text-places.ts';

/** Whether a place is on a line that a comment `check-ignore` excludes: alone on its line, it excludes the next line with text, otherwise its own. */
export function ignoredLines(
  source: string,
  pieces: readonly TextPiece[],
  placeOf: (at: number) => Place,
): (at: number) => boolean {
  const comments = pieces.filter(
    (piece) => piece.kind === 'hidden' && piece.reason === 'comment' && piece.text.trim() === 'check-ignore',
  );
  if (comments.length === 0) return () => false;
  const lines = source.split(/\r\n?|\n/);
  const ignored = new Set<number>();
  for (const { at } of comments) {
    let { line } = placeOf(at);
    if (/^[\s>]*<!--\s*check-ignore\s*-->\s*$/.test(lines[line - 1] ?? ''))
      do line += 1;
      while (line < lines.length && (lines[line - 1] ?? '').replace(/[\s>]/g, '') === '');
    ignored.add(line);
  }
  return (at) => ignored.has(placeOf(at).line);
}
