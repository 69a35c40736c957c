import type { Answer } from '../../../../application/tools/answer.ts';
import type { AnswerResult } from '../../../../domain/answers/answer-result.ts';
import type { Citation } from '../../../../domain/answers/citation.ts';
import type { PageCheck } from '../../../../domain/answers/known-page.ts';
import { hostOf, webHref } from './web-link.ts';

/** The result of an answer tool, with the part of the report that the page shows. */
export interface ShownAnswer {
  readonly result: AnswerResult;
  readonly report: Pick<Answer['report'], 'state' | 'handle' | 'checks'>;
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
    return { url, title, about: `${host}${day}`, findings: findingsOf(check, evidence), quote: evidence?.quote };
  });
}

/** The findings about a cited page. */
function findingsOf(check: PageCheck | undefined, { missing = [], unrelated }: Citation['evidence'] = {}) {
  const { state, status } = check ?? {};
  const answered = status === 404 || status === 410 ? `HTTP ${status}` : 'no such host';
  const figures = missing.map((figure) => `"${figure}"`).join(', ');
  return [
    ...(state === 'dead' ? [`not found: ${answered}`] : []),
    ...(figures === '' ? [] : [`${figures} not on the page`]),
    ...(unrelated ? ['no similar passage on the page'] : []),
  ];
}
