import type { Result } from 'neverthrow';
import { type Answer, type AnswerOutcome, toEnding } from '../../../application/answers/answer.ts';
import type { ToolCallReport } from '../../../application/gateway/call-tool.ts';
import { totalUse } from '../../../application/grounded/total-use.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchProgress, SearchUse } from '../../../application/ports/llm-search.ts';
import type { AnswerError } from '../../../domain/answers/answer-error.ts';

/** A finished call of a tool, without any text from it. It used nothing that another call accounts for. */
export interface CallReport extends SearchUse {
  readonly tool: string;
  /** `internal_error`: an exception, which is a bug. */
  readonly outcome: AnswerOutcome | 'internal_error';
  readonly seconds: number;
}

/** Observes the calls of tools, for metrics and logs. */
export interface CallObserver {
  onStarted(): void;
  /** The call is waiting for a slot upstream, or no longer is. */
  onWaiting(isWaiting: boolean): void;
  onEnded(report: CallReport): void;
  /** A call of a tool of the gateway's servers has ended. */
  onServerCallEnded?(report: ToolCallReport): void;
  /** A search that has outlived its call has ended: what it used counts for the call (ruling K22). */
  onUsedLater?(tool: string, use: SearchUse): void;
}

/** Measures one call for its observer, which is notified of the start. */
export function meterCall(tool: string, clock: Clock, observer: CallObserver | undefined) {
  const startedMs = clock.elapsedMs();
  let isWaiting = false;
  let isEnded = false;
  const uses: SearchUse[] = [];
  const setWaiting = (isNowWaiting: boolean) => {
    if (isNowWaiting !== isWaiting) observer?.onWaiting(isNowWaiting);
    isWaiting = isNowWaiting;
  };
  observer?.onStarted();
  return {
    onProgress: ({ kind }: SearchProgress): void => {
      if (!isEnded) setWaiting(kind === 'waiting');
    },
    onUsed: (use: SearchUse): void => {
      if (isEnded) observer?.onUsedLater?.(tool, use);
      else uses.push(use);
    },
    /** Without an answer: an exception ended the call. Only the first end counts. */
    end: (answer?: Result<Answer, AnswerError>, takesTask = false): void => {
      if (isEnded) return;
      isEnded = true;
      setWaiting(false);
      const outcome = answer === undefined ? 'internal_error' : toEnding(answer, takesTask).outcome;
      const seconds = (clock.elapsedMs() - startedMs) / 1000;
      observer?.onEnded({ tool, outcome, seconds, ...totalUse(uses) });
    },
  };
}
