import type { DateCandidates } from '../../../domain/values/published-date.ts';
import type { ElementVisitor } from './page-elements.ts';

/** The names of `<meta>` with the date of publication: of an article, and of any other page or publication. */
const ARTICLE = /^\s*(?:og:)?article:published_time\s*$/i;
const CITATION =
  /^\s*(?:citation_(?:publication_|online_)?date|(?:dc|dcterms)\.date|dc\.date\.issued|dcterms\.issued|parsely-pub-date|sailthru\.date|pubdate|publish-?date|publication_date|date)\s*$/i;
const MAX_JSON_LD_CHARS = 200_000;

/** Collects possible dates of publication of a page, regardless of how its elements are nested. */
export class DateCollector implements ElementVisitor {
  readonly candidates: Record<keyof DateCandidates, string[]> = { jsonLd: [], article: [], citation: [], time: [] };
  #jsonLd: string | undefined;

  onOpened(tag: string, attributes: Readonly<Record<string, string>>): void {
    const { type = '', content, datetime, itemprop = '' } = attributes;
    const { article, citation, time } = this.candidates;
    if (tag === 'script' && /^application\/ld\+json\b/i.test(type.trim())) this.#jsonLd = '';
    if (tag === 'meta' && content !== undefined) {
      const names = [attributes.property ?? '', attributes.name ?? ''];
      if (names.some((name) => ARTICLE.test(name))) article.push(content);
      else if (names.some((name) => CITATION.test(name))) citation.push(content);
    }
    const isPublished = /(?:^|\s)datepublished(?:\s|$)/i.test(itemprop);
    const date = datetime ?? content;
    if (date !== undefined && (isPublished || (tag === 'time' && 'pubdate' in attributes))) time.push(date);
  }

  onText(text: string): void {
    if (this.#jsonLd !== undefined && this.#jsonLd.length < MAX_JSON_LD_CHARS) this.#jsonLd += text;
  }

  onClosed(tag: string): void {
    if (this.#jsonLd === undefined || tag !== 'script') return;
    this.candidates.jsonLd.push(this.#jsonLd);
    this.#jsonLd = undefined;
  }
}
