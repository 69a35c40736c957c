import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import { isToolName, type ToolName } from '../../../domain/tool-name.ts';
import type { PresentationOptions } from './answer-presentation.ts';
import { answerToolList } from './answer-schemas.ts';
import { meterCall } from './call-meter.ts';
import type { Send, Tool, ToolCall, ToolReply, ToolSet } from './tool-set.ts';

export interface AnswerToolsOptions extends PresentationOptions {
  readonly application: Pick<Application, 'answerQuery' | 'cancelRequest'>;
  readonly clock: Clock;
  /** Maximum length of an answer; it determines the hint how long a result may be. */
  readonly maxAnswerChars: number;
  /** Whether an answer may call a tool with effects (ruling L26). */
  readonly hasEffects?: (() => boolean) | undefined;
  /** IANA time zone of dates. */
  readonly timeZone?: string;
}

/** Time for a busy client to read the last progress: the official clients drop progress that they read with the response. */
const PROGRESS_FLUSH_DELAY_MS = 25;

/** The answer tools of the contract (spec 3.0). */
export class AnswerTools implements ToolSet {
  readonly #options: AnswerToolsOptions;
  /** By whether answers have effects. They are kept, so that their schemas are compiled once. */
  readonly #lists = new Map<boolean, readonly Tool[]>();
  #presentation: Promise<typeof import('./answer-presentation.ts')> | undefined;

  constructor(options: AnswerToolsOptions) {
    this.#options = options;
  }

  list(): readonly Tool[] {
    const { maxAnswerChars, hasEffects: current, timeZone } = this.#options;
    const hasEffects = current?.() === true;
    let list = this.#lists.get(hasEffects);
    if (list === undefined) {
      list = answerToolList(maxAnswerChars, hasEffects, timeZone);
      this.#lists.set(hasEffects, list);
    }
    return list;
  }

  call(call: ToolCall, notify: Send): Promise<ToolReply> | undefined {
    return isToolName(call.name) ? this.#answer(call.name, call, notify) : undefined;
  }

  cancel(requestKey: string): void {
    this.#options.application.cancelRequest({ requestKey });
  }

  /** The question is asked at once. The code that presents the answer is loaded meanwhile, with the first call. */
  async #answer(tool: ToolName, call: ToolCall, notify: Send): Promise<ToolReply> {
    const { application, clock } = this.#options;
    const { args, requestKey, caller, isLocal } = call;
    this.#presentation ??= import('./answer-presentation.ts');
    const presentation = this.#presentation;
    const reporter = presentation.then(({ createReporter }) => createReporter(call, clock, notify));
    const meter = meterCall(tool, clock, call.observer);
    const observer: SearchObserver = {
      onProgress: (progress) => {
        meter.onProgress(progress);
        void reporter.then((reporter) => reporter?.onProgress(progress));
      },
    };
    try {
      const answer = await application.answerQuery({
        requestKey,
        caller,
        ...(isLocal && { isLocal }),
        tool,
        args,
        observer,
        onReply: meter.onReply,
      });
      meter.end(answer);
      const { toToolReply } = await presentation;
      const reply = toToolReply(answer, call.era, this.#options);
      const hasPending = reply !== 'cancelled' && (await reporter)?.finish() === true;
      if (hasPending) await clock.sleep(PROGRESS_FLUSH_DELAY_MS, new AbortController().signal);
      return reply;
    } finally {
      meter.end();
      (await reporter)?.stop();
    }
  }
}
