import { Parser } from 'htmlparser2';
import type { DateCandidates } from '../../../domain/published-date.ts';

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
/** For each tag, the parser takes time in proportion to the elements that are open. Pages have some tens of them. */
const MAX_OPEN = 500;

/** Reads where a page may say when it was published, while the page arrives. */
export class DateParser {
  readonly candidates = {
    jsonLd: [] as string[],
    article: [] as string[],
    citation: [] as string[],
    time: [] as string[],
  };
  readonly #parser: Parser;
  #jsonLd: string | undefined;
  #open = 0;

  constructor() {
    this.#parser = new Parser({
      onopentag: (name, attributes) => {
        this.#open += 1;
        // What follows is not read.
        if (this.#open > MAX_OPEN) this.#parser.pause();
        else this.#onOpen(name, attributes);
      },
      ontext: (text) => {
        if (this.#jsonLd !== undefined && this.#jsonLd.length < MAX_JSON_LD_CHARS) this.#jsonLd += text;
      },
      onclosetag: (name) => {
        this.#open -= 1;
        if (name !== 'script' || this.#jsonLd === undefined) return;
        this.candidates.jsonLd.push(this.#jsonLd);
        this.#jsonLd = undefined;
      },
    });
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): DateCandidates {
    this.#parser.end();
    return this.candidates;
  }

  #onOpen(name: string, attributes: Readonly<Record<string, string>>): void {
    const { type = '', content, datetime, itemprop = '' } = attributes;
    if (name === 'script' && /^application\/ld\+json\b/i.test(type.trim())) this.#jsonLd = '';
    const names = [attributes.property, attributes.name].map((text = '') => text.trim().toLowerCase());
    if (name === 'meta' && content !== undefined) {
      if (names.some((text) => text === 'article:published_time' || text === 'og:article:published_time')) {
        this.candidates.article.push(content);
      } else if (names.some((text) => CITATION_NAMES.has(text))) this.candidates.citation.push(content);
    }
    const isPublished = itemprop.toLowerCase().split(/\s+/).includes('datepublished');
    const date = datetime ?? content;
    if (date !== undefined && (isPublished || (name === 'time' && 'pubdate' in attributes)))
      this.candidates.time.push(date);
  }
}
