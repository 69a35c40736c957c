import { pageKey } from '../answers/citation.ts';
import { withoutEnd } from '../values/clean-text.ts';
import { fenceAfter } from '../values/code-fence.ts';

const MAX_CLAIM_CHARS = 400;

/** Matches a Markdown link to a web page. The label may have brackets, at most five times; the URL may have parentheses and a title. */
export const LINK_LABEL = '\\[(?<label>[^[\\]]{0,300}(?:\\[[^[\\]]{0,100}\\][^[\\]]{0,300}){0,5})\\]';
export const LINK_TARGET =
  '\\(\\s?<?(?<url>https?:(?:[^\\s()<>]|\\([^\\s()<>]{0,300}\\)){1,2048})>?(?:\\s+["\'(][^)]{0,300}["\')])?\\s?\\)';
const LINK = new RegExp(LINK_LABEL + LINK_TARGET, 'gi');
/** Parts of a line that do not belong to a claim: code, tags, other links, URLs, marks of notes, Markdown. */
const NO_TEXT =
  /(`{1,3})[^`]{1,400}\1|<\/?[a-z][^<>]{0,300}>|!?\[[^[\]]{0,100}\]\([^()\s]{0,4000}\)?|https?:\/\/[^\s()<>、。]+|\[\^?\d{1,3}\]|[_|]{1,3}|~~/gi;
/** The marks at the start of a line: of lists, headings, quotes and tables, with the number of an item. */
const LINE_START = /^[\s>|*_#+-]*(?:\(?\d{1,3}\\?[.)．）](?=[\s*_\p{L}]))?/u;

/** The claims for which an answer cites a page: on each line, the text between the previous link and this one. The API links once for several sentences. */
export function claimsFor(markdown: string, url: string): string[] {
  const claims = new Set<string>();
  let fence = '';
  for (const line of markdown.split('\n')) {
    const isCode = fence !== '';
    fence = fenceAfter(line, fence);
    let [claim, end] = ['', 0];
    for (const link of isCode || fence !== '' ? [] : line.matchAll(LINK)) {
      const own = toClaim(line.slice(end, link.index));
      if (/[\p{L}\p{N}]/u.test(own)) claim = own;
      end = link.index + link[0].length;
      if (claim !== '' && pageKey(link.groups?.url ?? '') === pageKey(url)) claims.add(claim);
    }
  }
  return [...claims].slice(0, 20);
}

/** The text of a claim, without Markdown, and not longer than a sentence may be. */
export function toClaim(segment: string): string {
  const shown = segment
    .slice(-10 * MAX_CLAIM_CHARS)
    .replace(LINE_START, ' ')
    .replace(/\*{1,3}/g, '')
    .replace(NO_TEXT, ' ')
    .replace(/\s+/g, ' ');
  const text = withoutEnd(shown, /[\s([（【「]/).trim();
  if (text.length <= MAX_CLAIM_CHARS) return text;
  // Removes the part of a word or number that was cut.
  return text
    .slice(-MAX_CLAIM_CHARS)
    .replace(/^[\d.,]+|^\p{L}{0,20}\s/u, '')
    .trim();
}
