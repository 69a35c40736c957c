import type { Result } from 'neverthrow';
import type { CitationEvidence, KnownPage } from '../../domain/answers/citation.ts';
import type { CheckedText } from '../../domain/check/checked-text.ts';
import type { FigureFinding, PageText } from '../../domain/evidence/evidence.ts';
import type { QuoteFinding } from '../../domain/evidence/quotes.ts';
import type { Kind } from '../../domain/values/kind.ts';

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

/** What is read of texts of others. Input and output are plain data. */
export interface Readings {
  /** The links of a text, and the claims with figures and the quotations for which it cites them. */
  links(text: string): CheckedText;
  /** Compares the figures of claims with a page, one finding for each claim; undefined if the page cannot be compared. */
  figures(claims: readonly string[], page: PageText): readonly FigureFinding[] | undefined;
  /** Looks for quotations on a page, one finding for each. */
  quotes(quotes: readonly string[], page: PageText): readonly QuoteFinding[];
  /** Compares the claims for which an answer cites a URL with the page; undefined without any finding. */
  evidence(answer: string, url: string, page: PageText): CitationEvidence | undefined;
}

/** A reading by its name, with its input. */
export interface TextRequest {
  readonly reading: keyof Readings;
  readonly input: readonly unknown[];
}

/** Why a text was not read: it needs more time or memory than a text may have, or `signal` has aborted. */
export type Unread = Kind<'too_slow'> | Kind<'too_large'> | Kind<'cancelled'>;

/** The time that a text may need, which begins with its turn. */
export const READING_MS = 5000;

/**
 * Reads texts that others wrote, perhaps so that reading them takes long. The rest of the program, and other texts, go on meanwhile: each text has its own
 * thread and limits, and only the text that exceeds one is lost.
 */
export interface TextReader {
  /**
   * Reads a text as soon as there is a place; callers take turns. Ends soon after `signal` aborts, and leaves no listener. Rejects only for a bug, or if a
   * file of the program is missing.
   */
  read<Name extends keyof Readings>(
    reading: Name,
    input: Parameters<Readings[Name]>,
    caller: string,
    signal: AbortSignal,
  ): Promise<Result<ReturnType<Readings[Name]>, Unread>>;
}
