import type { Language } from './language.ts';

/** How far cited pages are checked. */
export const CITATION_CHECKS = ['off', 'links', 'evidence'] as const;

export type CitationCheck = (typeof CITATION_CHECKS)[number];

/** The outcome of a request for a page. `status` is the HTTP status of the last response. */
export interface PageCheck {
  readonly state: 'ok' | 'dead' | 'unreadable';
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  /** The address to which the page was redirected. */
  readonly finalUrl?: string | undefined;
  /** Whether the first redirect is permanent. */
  readonly isMoved?: boolean | undefined;
}

/** Findings of a comparison of a page with the text that cites it. At least one key is present. */
export interface CitationEvidence {
  readonly quote?: string;
  readonly missing?: readonly string[];
  readonly unrelated?: true;
}

/** Facts about a cited page that was read. */
export interface KnownPage extends Partial<PageCheck> {
  /** The day of publication, `YYYY-MM-DD`. */
  readonly publishedOn?: string | undefined;
  readonly evidence?: CitationEvidence | undefined;
}

/** The end of a line of `Sources:` for a page that does not exist; empty for any other page. */
export function deadMark({ state, status }: KnownPage, language: Language): string {
  if (state !== 'dead') return '';
  return ` [${language === 'ja' ? '見つかりません' : 'not found'}: ${deadReason(status, language)}]`;
}

/** Why a page does not exist: its server says so, or there is no such server. */
export function deadReason(status: number | undefined, language: Language): string {
  if (status === 404 || status === 410) return `HTTP ${status}`;
  return language === 'ja' ? 'ホスト名がありません' : 'no such host';
}
