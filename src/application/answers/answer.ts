import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { SearchReport } from '../ports/llm-search.ts';
import type { PagesReport } from './page-checks.ts';

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  readonly report: SearchReport & PagesReport & { readonly seconds: number };
}
