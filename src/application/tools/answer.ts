import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { PageCheck } from '../../domain/answers/known-page.ts';
import type { SearchReport } from '../ports/llm-search.ts';

/** `page`: the page says when it was published; `resource`: the last change of an own source; `access`: the day of the answer. */
export type DateOrigin = 'page' | 'resource' | 'access';

/** Findings about the cited pages: the origin of their dates, and the states of the pages that were requested. */
export interface PagesReport {
  readonly dates?: readonly { readonly url: string; readonly origin: DateOrigin }[] | undefined;
  readonly checks?: readonly (PageCheck & { readonly url: string })[] | undefined;
}

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  readonly report: SearchReport & PagesReport & { readonly seconds: number };
}

export function toAnswerError(error: SearchError): AnswerError {
  return error.kind === 'aborted' ? { kind: 'cancelled' } : error;
}
