import type { KnownPage } from '../../domain/answers/known-page.ts';
import type { PageText } from '../../domain/evidence/evidence.ts';

/** The facts about a page that the configuration asks for. */
export interface PageReading extends Omit<KnownPage, 'evidence'> {
  /** Present if the page is `ok` and evidence is configured. */
  readonly text?: PageText | undefined;
}

/** Reads the pages that an answer cites: when they were published, and whether they exist. */
export interface CitedPages {
  /** The facts about each page, by URL. Never rejects. A page that was not read within a few seconds, or when `signal` aborts, is `unreadable`. */
  read(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PageReading>>;
}
