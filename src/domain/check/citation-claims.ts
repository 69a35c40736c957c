import { pageKey } from '../answers/citation.ts';
import { toClaim } from './claim-text.ts';
import { MARKS, markedText } from './marked-text.ts';
import { textBlocks } from './text-blocks.ts';
import type { TextPiece } from './text-piece.ts';

const MAX_CLAIMS = 20;

/** The claims for which an answer cites a page: on each line, the text between the previous link and this one. The API links once for several sentences. */
export function claimsFor(answer: readonly TextPiece[], url: string): readonly string[] {
  const key = pageKey(url);
  const claims = new Set<string>();
  for (const block of textBlocks(answer.filter(({ kind }) => kind !== 'code'))) {
    const { text, marks } = markedText(block, () => false);
    for (const line of text.split('\n')) {
      const parts = line.replace(/\uE002[^\uE002\uE003]*\uE003/g, ' ').split(/\uE000(\d+)\uE001/);
      let [claim, own] = ['', ''];
      for (let at = 0; at + 1 < parts.length; at += 2) {
        own += parts[at] ?? '';
        const { url: cited, isBare = false } = marks[Number(parts[at + 1])] ?? {};
        if (cited === undefined || isBare) continue;
        const text = toClaim(own.replace(MARKS, ''));
        own = '';
        if (/[\p{L}\p{N}]/u.test(text)) claim = text;
        if (claim !== '' && pageKey(cited) === key) claims.add(claim);
      }
    }
  }
  return [...claims].slice(0, MAX_CLAIMS);
}
