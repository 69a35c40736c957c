import { Tokenizer } from 'htmlparser2';
import type { DateCandidates } from '../../../domain/values/published-date.ts';

const CITATION_NAMES = new Set([
  'citation_publication_date',
  'citation_date',
  'citation_online_date',
  'dc.date',
  'dc.date.issued',
  'dcterms.issued',
  'dcterms.date',
  'parsely-pub-date',
  'sailthru.date',
  'pubdate',
  'publishdate',
  'publish-date',
  'publication_date',
  'date',
]);
const MAX_JSON_LD_CHARS = 200_000;
const ATTRIBUTES = new Set(['type', 'content', 'datetime', 'itemprop', 'property', 'name', 'pubdate']);

/**
 * Where a page may say when it was published. Which element contains which does not matter: a parser that knows would need time in proportion to
 * the elements that are open, and so let a page hold the process up.
 */
export function dateCandidatesIn(html: string): DateCandidates {
  const candidates: Record<keyof DateCandidates, string[]> = { jsonLd: [], article: [], citation: [], time: [] };
  let tag = '';
  let attributes: Record<string, string> = {};
  let attribute = '';
  let jsonLd: string | undefined;
  const nameAt = (start: number, end: number) => html.slice(start, end).toLowerCase();
  const addValue = (text: string) => {
    if (ATTRIBUTES.has(attribute)) attributes[attribute] += text;
  };
  const onOpened = () => {
    const { type = '', content, datetime, itemprop = '' } = attributes;
    if (tag === 'script' && /^application\/ld\+json\b/i.test(type.trim())) jsonLd = '';
    if (tag === 'meta' && content !== undefined) {
      const names = [attributes.property, attributes.name].map((text = '') => text.trim().toLowerCase());
      if (names.some((text) => text === 'article:published_time' || text === 'og:article:published_time')) {
        candidates.article.push(content);
      } else if (names.some((text) => CITATION_NAMES.has(text))) candidates.citation.push(content);
    }
    const isPublished = /(?:^|\s)datepublished(?:\s|$)/i.test(itemprop);
    const date = datetime ?? content;
    if (date !== undefined && (isPublished || (tag === 'time' && 'pubdate' in attributes))) candidates.time.push(date);
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    {},
    {
      onopentagname: (start, end) => {
        tag = nameAt(start, end);
        attributes = {};
      },
      onattribname: (start, end) => {
        const name = nameAt(start, end);
        // The first of several counts.
        attribute = name in attributes ? '' : name;
        if (ATTRIBUTES.has(attribute)) attributes[attribute] = '';
      },
      onattribdata: (start, end) => addValue(html.slice(start, end)),
      onattribentity: (code) => addValue(String.fromCodePoint(code)),
      onattribend: ignore,
      onopentagend: onOpened,
      onselfclosingtag: onOpened,
      ontext: (start, end) => {
        if (jsonLd !== undefined && jsonLd.length < MAX_JSON_LD_CHARS) jsonLd += html.slice(start, end);
      },
      ontextentity: ignore,
      onclosetag: (start, end) => {
        if (jsonLd === undefined || nameAt(start, end) !== 'script') return;
        candidates.jsonLd.push(jsonLd);
        jsonLd = undefined;
      },
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return candidates;
}
