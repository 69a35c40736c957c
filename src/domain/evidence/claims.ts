import { pageKey } from '../answers/citation.ts';
import { fenceAfter } from '../values/code-fence.ts';

const MAX_CLAIM_CHARS = 400;

/** A Markdown link to a web page. A label may have brackets, a URL parentheses. */
const LINK =
  /\[(?:[^[\]]|\[[^[\]]{0,100}\]){0,300}\]\(\s?<?(https?:\/\/(?:[^\s()<>]|\([^\s()<>]{0,300}\)){1,4000})>?(?:\s+["'(][^)]{0,300}["')])?\s?\)/gi;
/** What is not the text of a claim: code, tags, other links, URLs, marks of notes, Markdown. */
const NO_TEXT =
  /(`{1,3})[^`]{1,400}\1|<\/?[a-z][^<>]{0,300}>|!?\[[^\]]{0,100}\]\([^()\s]{0,4000}\)?|https?:\/\/[^\s()<>、。]+|\[\^?\d{1,3}\]|[_|]{1,3}|~~/gi;
/** The marks at the start of a line: of lists, headings, quotes and tables, with the number of an item. */
const LINE_START = /^[\s>|*_#+-]*(?:\(?\d{1,3}\\?[.)．）](?=[\s*_\p{L}]))?/u;

/** The claims of a text that cites a page: what precedes each link to it on its line, since the previous link. */
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
      if (claim !== '' && pageKey(link[1] ?? '') === pageKey(url)) claims.add(claim);
    }
  }
  return [...claims].slice(0, 20);
}

/** The text of a claim, without Markdown, and not longer than a sentence may be. */
export function toClaim(segment: string): string {
  const text = segment
    .slice(-10 * MAX_CLAIM_CHARS)
    .replace(LINE_START, ' ')
    .replace(/\*{1,3}/g, '')
    .replace(NO_TEXT, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[\s([（【「]+$/, '')
    .trim();
  if (text.length <= MAX_CLAIM_CHARS) return text;
  // Without the end of a word or number that was cut.
  return text
    .slice(-MAX_CLAIM_CHARS)
    .replace(/^[\d.,]+|^\p{L}{0,20}\s/u, '')
    .trim();
}
