import type { Result } from 'neverthrow';
import type { Answer } from '../../../application/answer-query.ts';
import type { ToolCallReport } from '../../../application/call-tool.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type {
  SearchProgress,
  SearchReport,
  TokenUsage,
  ToolCallSummary,
} from '../../../application/ports/llm-search.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { withoutUndefined } from '../../../domain/json.ts';

/** A finished call of a tool, without any text from it. */
export interface CallReport {
  readonly tool: string;
  /** `internal_error`: an exception, which is a bug. */
  readonly outcome: 'answered' | 'internal_error' | AnswerError['kind'];
  readonly seconds: number;
  /** Web searches and tokens; none if another call accounts for them. */
  readonly searches: number;
  readonly usage?: TokenUsage;
  /** Of a grounded answer: the requests to the API, and the calls of own tools. */
  readonly rounds?: number;
  readonly toolCalls?: readonly ToolCallSummary[];
}

/** Observes the calls of tools, for metrics and logs. */
export interface CallObserver {
  onStarted(): void;
  /** The call is waiting for a slot upstream, or no longer is. */
  onWaiting(isWaiting: boolean): void;
  onEnded(report: CallReport): void;
  /** A call of a tool of the gateway's servers has ended. */
  onServerCallEnded?(report: ToolCallReport): void;
}

/** Measures one call for its observer, which is notified of the start. */
export function meterCall(tool: string, clock: Clock, observer: CallObserver | undefined) {
  const startedMs = clock.elapsedMs();
  let isWaiting = false;
  let isEnded = false;
  let replied: SearchReport | undefined;
  const setWaiting = (isNowWaiting: boolean) => {
    if (isNowWaiting !== isWaiting) observer?.onWaiting(isNowWaiting);
    isWaiting = isNowWaiting;
  };
  observer?.onStarted();
  return {
    onProgress: ({ kind }: SearchProgress): void => {
      if (!isEnded) setWaiting(kind === 'waiting');
    },
    onReply: (report: SearchReport): void => {
      replied = report;
    },
    /** Without an answer: an exception ended the call. Only the first end counts. */
    end: (answer?: Result<Answer, AnswerError>): void => {
      if (isEnded) return;
      isEnded = true;
      setWaiting(false);
      const outcome =
        answer?.match(
          () => 'answered' as const,
          ({ kind }) => kind,
        ) ?? 'internal_error';
      const seconds = (clock.elapsedMs() - startedMs) / 1000;
      const { searches = 0, usage, rounds, toolCalls } = replied?.isShared ? {} : (replied ?? {});
      observer?.onEnded({ tool, outcome, seconds, searches, ...withoutUndefined({ usage, rounds, toolCalls }) });
    },
  };
}
