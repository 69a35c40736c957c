import type { Application } from '../../../application/answers/application.ts';
import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import { isToolName, type ToolName } from '../../../domain/answers/tool-name.ts';
import {
  BUILT_IN_SERVER,
  EVERYTHING,
  isPermitted,
  type Rights,
  type UsableTool,
} from '../../../domain/gateway/call-origin.ts';
import { MCP } from '../words/mcp-messages.ts';
import type { PresentationOptions } from './answer-presentation.ts';
import { answerToolList } from './answer-schemas.ts';
import { meterCall } from './call-meter.ts';
import type { TaskExtension } from './tasks.ts';
import { PROGRESS_FLUSH_MS, type Send, type Tool, type ToolCall, type ToolReply, type ToolSet } from './tool-set.ts';

export interface AnswerToolsOptions extends PresentationOptions {
  readonly application: Pick<Application, 'answerQuery'>;
  readonly clock: Clock;
  /** Maximum length of an answer; it determines the hint how long a result may be. */
  readonly maxAnswerChars: number;
  /** Whether an answer may call a tool with effects (ruling L26). */
  readonly hasEffects?: ((rights: Rights) => boolean) | undefined;
  /** Undefined if no call becomes a task. */
  readonly tasks?: TaskExtension | undefined;
  /** IANA time zone of dates. */
  readonly timeZone?: string;
  /** Whether citations may have evidence. */
  readonly hasEvidence?: boolean;
}

/** The answer tools of the contract (spec 3.0). */
export class AnswerTools implements ToolSet {
  readonly #options: AnswerToolsOptions;
  /** The same objects for the same effects: a schema is compiled once per object. */
  readonly #lists = new Map<boolean, readonly Tool[]>();

  constructor(options: AnswerToolsOptions) {
    this.#options = options;
  }

  list(rights: Rights): readonly Tool[] {
    const { maxAnswerChars, timeZone, hasEvidence } = this.#options;
    const hasEffects = this.#options.hasEffects?.(rights) === true;
    const tools = this.#lists.get(hasEffects) ?? answerToolList(maxAnswerChars, hasEffects, timeZone, hasEvidence);
    this.#lists.set(hasEffects, tools);
    return rights === EVERYTHING ? tools : tools.filter(({ name }) => rights.mayUse(toUsable(name)));
  }

  unknownTool(name: string, rights: Rights): string {
    const known = this.list(rights).map((tool) => tool.name);
    return MCP.unknownTool(name, known);
  }

  call(call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> | undefined {
    const isKnown = isToolName(call.name) && isPermitted(call.by, toUsable(call.name));
    return isKnown ? this.#answer(call.name, call, notify, signal) : undefined;
  }

  /** The question is asked at once. The code that presents the answer is loaded meanwhile, with the first call. */
  async #answer(tool: ToolName, call: ToolCall, notify: Send, signal: AbortSignal): Promise<ToolReply> {
    const { application, clock, tasks } = this.#options;
    const { args, by } = call;
    const takesTask = call.era === 'modern' && tasks?.declaredIn(call.meta) !== undefined;
    const presentation = import('./answer-presentation.ts');
    const reporter = presentation.then(
      ({ createReporter }) => createReporter(call, clock, notify),
      // That it cannot be loaded is noticed where the answer is presented.
      () => undefined,
    );
    const meter = meterCall(tool, clock, call.observer);
    const observer: SearchObserver = {
      onUsed: meter.onUsed,
      onProgress: (progress) => {
        meter.onProgress(progress);
        void reporter.then((reporter) => reporter?.onProgress(progress));
      },
    };
    try {
      const answer = await application.answerQuery({ by, tool, args, observer, takesTask }, signal);
      meter.end(answer, takesTask);
      const { toToolReply } = await presentation;
      const task = takesTask && answer.isOk() ? await tasks?.toTask(answer.value, by) : undefined;
      const reply = task === undefined ? toToolReply(answer, call.era, this.#options) : { result: task };
      const hasPending = reply !== 'cancelled' && (await reporter)?.finish() === true;
      if (hasPending) await clock.sleep(PROGRESS_FLUSH_MS, never());
      return reply;
    } finally {
      meter.end();
      (await reporter)?.stop();
    }
  }
}

function toUsable(name: string): UsableTool {
  return { server: BUILT_IN_SERVER, name };
}
