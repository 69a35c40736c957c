import { err, ok } from 'neverthrow';
import { isToolName } from '../../domain/answers/question.ts';
import { BUILT_IN_SERVER, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { SearchObserver } from '../ports/llm-search.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome, ToolProvider } from '../tools/tool-call.ts';
import type { Application } from './application.ts';

interface AnswerProviderOptions {
  /** Loads the application with the first question. */
  readonly load: () => Promise<Pick<Application, 'answerQuery'>>;
  /** The descriptions of the tools. `hasEffects`: whether an answer may call a tool with effects. */
  readonly describe: (hasEffects: boolean) => readonly GatewayTool[];
  readonly hasEffects?: ((rights: Rights) => boolean) | undefined;
  readonly timeoutMs: number;
}

/** Offers the answer tools as tools of a server. */
export class AnswerProvider implements ToolProvider {
  readonly serverNames = [BUILT_IN_SERVER];
  readonly #options: AnswerProviderOptions;
  /** The descriptions by `hasEffects`: the same objects each time, because OpenAPI documents are kept by these objects. */
  readonly #described = new Map<boolean, readonly GatewayTool[]>();
  #loaded: Pick<Application, 'answerQuery'> | undefined;

  constructor(options: AnswerProviderOptions) {
    this.#options = options;
  }

  toolsFor(rights: Rights): readonly GatewayTool[] {
    const hasEffects = this.#options.hasEffects?.(rights) === true;
    const tools = this.#described.get(hasEffects) ?? this.#options.describe(hasEffects);
    this.#described.set(hasEffects, tools);
    return tools;
  }

  /** An answer ends by itself, with its own message, unless its caller allows less time. */
  limitMs(_server: string, wantedMs: number): number {
    return wantedMs < this.#options.timeoutMs ? wantedMs : Number.POSITIVE_INFINITY;
  }

  find({ tool, by }: ToolCall): FoundTool {
    return { tool: this.toolsFor(by.rights).find(({ name }) => name === tool) };
  }

  /** Does not wait once the application is loaded, because a repeated question must join its search before the first call is cancelled. */
  async call({ tool, args, by, line, on, isUnlimited }: ObservedCall, signal: AbortSignal): Promise<ToolOutcome> {
    if (!isToolName(tool)) throw new Error(`no answer tool: ${tool}`);
    this.#loaded ??= await this.#options.load();
    const effects = new Set<string>();
    const observer: SearchObserver = {
      onProgress: (progress) => on({ kind: 'searching', progress }),
      onUsed: (use) => {
        if (use.effect !== undefined) effects.add(use.effect);
        on({ kind: 'used', use });
      },
    };
    // Audit lines of the model's calls name the line of the answer.
    const origin = line === undefined ? by : { ...by, answer: line.id };
    const answer = await this.#loaded.answerQuery.execute({ by: origin, tool, args, observer, isUnlimited }, signal);
    if (answer.isErr()) {
      const error = effects.size === 0 ? answer.error : { ...answer.error, effects: [...effects] };
      return err({ kind: 'answer_failed', error });
    }
    const { result } = answer.value;
    const content = [{ type: 'text', text: JSON.stringify(result) }];
    const raw = { content, structuredContent: { ...result } };
    return ok({ ...raw, raw, isError: false, answer: answer.value });
  }
}
