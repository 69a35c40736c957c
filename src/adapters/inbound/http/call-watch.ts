import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { TokenUsage } from '../../../application/ports/llm-search.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import type { ToolName } from '../../../domain/tool-name.ts';

/** A call that has ended, without any of its texts. */
export interface CallReport {
  readonly tool: ToolName;
  /** `fault`: an exception, which is a bug of ours. */
  readonly outcome: 'answered' | 'fault' | AnswerError['kind'];
  readonly seconds: number;
  readonly searches: number;
  readonly usage?: TokenUsage;
}

/** Told how calls go. */
export interface CallWatcher {
  began(): void;
  /** The call waits for a place upstream, or does not any more. */
  waits(isWaiting: boolean): void;
  ended(report: CallReport): void;
}

/** The same application, watched. */
export function watchCalls(application: Application, clock: Clock, watcher: CallWatcher): Application {
  return {
    cancelRequest: (input) => application.cancelRequest(input),
    diagnoseSetup: (hasKey, signal) => application.diagnoseSetup(hasKey, signal),
    answerQuery: async (input, signal) => {
      const startedMs = clock.elapsedMs();
      let isWaiting = false;
      const tellWaiting = (waitsNow: boolean) => {
        if (waitsNow !== isWaiting) watcher.waits(waitsNow);
        isWaiting = waitsNow;
      };
      const end = (rest: Pick<CallReport, 'outcome' | 'searches' | 'usage'>) => {
        tellWaiting(false);
        watcher.ended({ tool: input.tool, seconds: (clock.elapsedMs() - startedMs) / 1000, ...rest });
      };
      watcher.began();
      const observer: typeof input.observer = {
        onProgress: (progress) => {
          tellWaiting(progress.kind === 'waiting');
          input.observer.onProgress(progress);
        },
      };
      try {
        const answer = await application.answerQuery({ ...input, observer }, signal);
        if (answer.isErr()) {
          end({ outcome: answer.error.kind, searches: 0 });
        } else {
          const { searches, usage } = answer.value.report;
          end({ outcome: 'answered', searches, ...(usage === undefined ? {} : { usage }) });
        }
        return answer;
      } catch (bug) {
        end({ outcome: 'fault', searches: 0 });
        throw bug;
      }
    },
  };
}
