import type { AnswerResult } from '../../../../domain/answers/answer-result.ts';
import { type Citation, pageKey } from '../../../../domain/answers/citation.ts';
import { hostOf, webHref } from './web-link.ts';

/** The part of the tools' result that the page shows. */
export type ShownAnswer = Pick<AnswerResult, 'answer' | 'citations' | 'used_search' | 'model'>;

/** A citation as the page shows it. */
export interface Source {
  readonly url: string;
  readonly title: string | undefined;
  /** The host, unless the title is the URL, and the day. */
  readonly about: string;
  readonly findings: readonly string[];
  readonly quote: string | undefined;
}

/** The line of an unfinished answer that is the query for the rest; undefined if the answer is finished. */
export function handleIn({ answer, used_search }: ShownAnswer): string | undefined {
  return used_search ? undefined : /^la1\.[adq]\.[\w-]{1,90}\.[\w-]{22}$/m.exec(answer)?.[0];
}

/** The text without the list of sources at its end, if the citations contain all of them. */
export function withoutSources({ answer, citations }: ShownAnswer): string {
  const [, body, list = ''] = /^(.*)\n\nSources:\n((?:- .*\n?)+)$/s.exec(answer) ?? [];
  const isCited = (line: string) => citations.some(({ url }) => line.includes(url));
  return body !== undefined && list.trim().split('\n').every(isCited) ? body : answer;
}

export function sourcesOf({ answer, citations }: ShownAnswer): readonly Source[] {
  const lines = answer.slice(answer.lastIndexOf('\nSources:\n')).split('\n');
  return citations.map(({ url, title, published_at: day, evidence }) => {
    const href = webHref(url);
    const host = title !== undefined && href !== undefined ? `${hostOf(href)}, ` : '';
    const dead = lines.filter((line) => namesPage(line, url)).flatMap((line) => MARK.exec(line) ?? []);
    return { url, title, about: `${host}${day}`, findings: findingsIn(dead, evidence), quote: evidence?.quote };
  });
}

/** The end of a line of sources whose page does not exist, in both languages. */
const MARK = / \[(?:not found|見つかりません): (?:(HTTP \d+)|.{1,20})\]$/;

/** Whether a line of sources names a page, and not one whose URL only begins in the same way. */
function namesPage(line: string, url: string): boolean {
  const words = [...line.split(/\s/), ...line.split(/[\s()<>]+/)];
  return words.some((word) => pageKey(word) === pageKey(url));
}

/** What was found about a cited page. `dead`: the mark of its line, and the status in it. */
function findingsIn([mark, status]: readonly string[], { missing = [], unrelated }: Citation['evidence'] = {}) {
  const figures = missing.map((figure) => `"${figure}"`).join(', ');
  return [
    ...(mark === undefined ? [] : [`not found: ${status ?? 'no such host'}`]),
    ...(figures === '' ? [] : [`${figures} not on the page`]),
    ...(unrelated ? ['no similar passage on the page'] : []),
  ];
}
