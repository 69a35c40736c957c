import type { DateCandidates } from '../../../domain/values/published-date.ts';
import type { ElementVisitor } from './page-elements.ts';

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

/** Collects where a page may say when it was published. Which element contains which does not matter. */
export class DateCollector implements ElementVisitor {
  readonly candidates: Record<keyof DateCandidates, string[]> = { jsonLd: [], article: [], citation: [], time: [] };
  #jsonLd: string | undefined;

  onOpened(tag: string, attributes: Readonly<Record<string, string>>): void {
    const { type = '', content, datetime, itemprop = '' } = attributes;
    const { article, citation, time } = this.candidates;
    if (tag === 'script' && /^application\/ld\+json\b/i.test(type.trim())) this.#jsonLd = '';
    if (tag === 'meta' && content !== undefined) {
      const names = [attributes.property, attributes.name].map((text = '') => text.trim().toLowerCase());
      if (names.some((text) => text === 'article:published_time' || text === 'og:article:published_time')) {
        article.push(content);
      } else if (names.some((text) => CITATION_NAMES.has(text))) citation.push(content);
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
