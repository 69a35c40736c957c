import type { Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { SearchReport } from '../ports/llm-search.ts';
import type { PagesReport } from './page-checks.ts';

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  readonly report: SearchReport & PagesReport & { readonly seconds: number };
}

export function toAnswerError(error: SearchError): AnswerError {
  return error.kind === 'aborted' ? { kind: 'cancelled' } : error;
}

/** How a call has ended. `task`, `unfinished`, `detached`: its search continues (ruling K26). */
export type AnswerOutcome = 'answered' | 'task' | 'unfinished' | 'detached' | AnswerError['kind'];

/** How a call has ended, and with what result. `takesTask`: the client gets a task if the answer is not finished. */
export function toEnding(answer: Result<Answer, AnswerError>, takesTask = false) {
  const toOutcome = ({ report }: Answer) =>
    report.state !== 'unfinished' ? 'answered' : takesTask ? 'task' : report.state;
  return answer.match<{ readonly outcome: AnswerOutcome; readonly result?: AnswerResult }>(
    (answered) => ({ outcome: toOutcome(answered), result: answered.result }),
    (error) => ({ outcome: error.kind === 'cancelled' && error.isDetached ? 'detached' : error.kind }),
  );
}
