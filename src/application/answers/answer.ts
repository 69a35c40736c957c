import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { SearchReport } from '../ports/llm-search.ts';
import type { DateOrigin } from './cited-dates.ts';

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  /** `dates`: the origin of the date of each citation, if dates are read from pages. */
  readonly report: SearchReport & { readonly seconds: number; readonly dates?: readonly DateOrigin[] | undefined };
}
