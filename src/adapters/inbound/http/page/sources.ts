import type { Answer } from '../../../../application/tools/tool-call.ts';
import type { AnswerResult } from '../../../../domain/answers/answer-result.ts';
import { type Citation, deadReason, type PageCheck } from '../../../../domain/answers/citation.ts';
import type { toCheckJson } from '../../words/check-json.ts';
import { noPassage, notOnPage, notQuoted } from '../../words/page-findings.ts';
import { hostOf, webHref } from './web-link.ts';

/** The result of an answer tool, with the part of the report that the page shows. */
export interface ShownAnswer {
  readonly result: AnswerResult;
  readonly report: Pick<Answer['report'], 'state' | 'handle' | 'checks'> & {
    readonly cost?: { readonly usd: number };
  };
}

/** A citation as the page shows it. */
export interface Source {
  readonly url: string;
  readonly title: string | undefined;
  /** The day, after the host if the link shows a title instead of the URL. */
  readonly about: string;
  readonly findings: readonly string[];
  readonly quote: string | undefined;
}

/** The text without the list of sources at its end, if the citations contain all of them. */
export function withoutSources({ answer, citations }: AnswerResult): string {
  const [, body, list = ''] = /^(.*)\n\nSources:\n((?:- .*\n?)+)$/s.exec(answer) ?? [];
  const isCited = (line: string) => citations.some(({ url }) => line.includes(url));
  return body !== undefined && list.trim().split('\n').every(isCited) ? body : answer;
}

export function sourcesOf({ result, report }: ShownAnswer): readonly Source[] {
  return result.citations.map(({ url, title, published_at: day, evidence }) => {
    const href = webHref(url);
    const host = title !== undefined && href !== undefined ? `${hostOf(href)}, ` : '';
    const check = report.checks?.find((check) => check.url === url);
    return { url, title, about: `${host}${day}`, findings: citedFindings(check, evidence), quote: evidence?.quote };
  });
}

/** The findings about a cited page. */
function citedFindings(check: PageCheck | undefined, { missing = [], unrelated }: Citation['evidence'] = {}) {
  const { state, status } = check ?? {};
  return [
    state === 'dead' ? `not found: ${deadReason(status, 'en')}` : [],
    missing.length > 0 ? notOnPage(missing, 'en') : [],
    unrelated ? noPassage('en') : [],
  ].flat();
}

/** The body of `POST /mcp/check`. */
export type CheckReport = ReturnType<typeof toCheckJson>;

/** A line of the report about one link. */
export interface ReportItem {
  /** Opens the page, at the passage if there is one. */
  readonly href: string;
  readonly url: string;
  readonly problem: string | undefined;
  /** Where the text has the claim or the link. */
  readonly line: number;
  readonly column: number;
  readonly claim?: string;
  readonly passage?: string | undefined;
}

/** The findings in the order of the text: figures and quotations that are not on their page, and dead links. */
export function findingsOf({ claims, quotes, links }: CheckReport): readonly ReportItem[] {
  const missing = claims.flatMap((found) => {
    const { url, missing } = found;
    if (missing.length === 0 || url === undefined) return [];
    return [itemOf({ ...found, url, problem: notOnPage(missing, 'en') })];
  });
  const altered = quotes.flatMap(({ url, quote, state, ...found }) =>
    state !== 'missing' || url === undefined ? [] : [itemOf({ ...found, url, claim: quote, problem: notQuoted('en') })],
  );
  return [...missing, ...altered, ...withState(links, 'dead')].sort((a, b) => a.line - b.line || a.column - b.column);
}

type Found = Omit<ReportItem, 'href'> & { readonly claim: string; readonly page?: number };

function itemOf({ url, problem, claim, passage, page, line, column }: Found): ReportItem {
  const href = page === undefined ? hrefAt(url, passage) : `${url.replace(/#.*/, '')}#page=${page}`;
  return { href, url, problem, claim, passage, line, column };
}

export function unreadableOf({ links }: CheckReport): readonly ReportItem[] {
  return withState(links, 'unreadable');
}

function withState(links: CheckReport['links'], wanted: string): readonly ReportItem[] {
  return links
    .filter(({ state }) => state === wanted)
    .map(({ url, reason, line, column }) => ({ href: url, url, problem: reason, line, column }));
}

/** Number of words that the URL names at each end of a longer passage. The text between them may be in several elements. */
const WORDS = 5;

/** A URL that scrolls to a passage (URL Fragment Text Directives). */
function hrefAt(url: string, passage = ''): string {
  const words = passage.replace(/^…|…$/g, '').split(' ');
  const ends = words.length > 2 * WORDS ? [words.slice(0, WORDS), words.slice(-WORDS)] : [words];
  const text = ends.map((part) => encodeURIComponent(part.join(' ')).replaceAll('-', '%2D')).join(',');
  return text === '' ? url : `${url}${url.includes('#') ? '' : '#'}:~:text=${text}`;
}
