import type { KnownPage } from '../../domain/answers/known-page.ts';
import type { PageText } from '../../domain/evidence/evidence.ts';

/** What reading a page showed, as far as the configuration asks for it. */
export interface PageReading extends Omit<KnownPage, 'evidence'> {
  /** What the page says, if it is `ok` and evidence is asked for; in a turn of its own, since to compare it takes time. Never rejects. */
  readonly text?: (() => Promise<PageText>) | undefined;
}

/** The pages that an answer cites: when they were published, and whether they exist. */
export interface CitedPages {
  /** What is known of each page, by URL. Never rejects. A page that was not read in a few seconds, or when `signal` aborts, is `unreadable`. */
  read(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PageReading>>;
}
