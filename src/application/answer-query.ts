import { err, ok, type Result } from 'neverthrow';
import type { AnswerError } from '../domain/answer-error.ts';
import { type AnswerResult, toAnswerResult } from '../domain/answer-result.ts';
import { type ModelProfile, modelSupport, profileFor } from '../domain/model-profile.ts';
import { parseQuestion } from '../domain/question.ts';
import { SYSTEM_POLICY } from '../domain/system-policy.ts';
import { tokyoDate } from '../domain/tokyo-date.ts';
import type { ToolName } from '../domain/tool-name.ts';
import type { AbortCause, InFlightRequests } from './in-flight-requests.ts';
import type { Clock } from './ports/clock.ts';
import type { Config } from './ports/config.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchReport, SearchRequest } from './ports/llm-search.ts';
import type { Logger } from './ports/logger.ts';

/** A call of one of the answer tools. */
export interface AnswerQueryInput {
  /** Unique among the requests in flight; CancelRequest finds the call by it. */
  readonly requestKey: string;
  /** The name of the caller. Calls of different callers never share a search. */
  readonly caller: string;
  /** The caller is the user of this machine, and not a caller over HTTP. */
  readonly isLocal?: true;
  /** No own tool may be offered, whatever is configured. */
  readonly isWebOnly?: true;
  readonly tool: ToolName;
  /** The tool's arguments as received. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly observer: SearchObserver;
}

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  readonly report: SearchReport & { readonly seconds: number };
}

interface Dependencies {
  readonly llmSearch: LlmSearch;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly inFlight: InFlightRequests;
  readonly config: Config;
}

/** Answers a question with a model that may search the web (spec 6). */
export class AnswerQuery {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** The promise does not reject for a failure that the caller can act on. CancelRequest ends it with `cancelled`. */
  async execute({
    requestKey,
    caller,
    isLocal,
    isWebOnly,
    tool,
    args,
    observer,
  }: AnswerQueryInput): Promise<Result<Answer, AnswerError>> {
    const { config, clock, inFlight } = this.#deps;
    const question = parseQuestion(tool, args, config.searchDefaults);
    if (question.isErr()) return err({ kind: 'invalid_arguments', problems: question.error });
    const profile = profileFor(tool, config.profiles);
    if (profile === undefined) return err({ kind: 'no_profile', tool });
    this.#logProfile(tool, profile);

    const startedMs = clock.elapsedMs();
    const request: SearchRequest = {
      caller,
      ...(isLocal && { isLocal }),
      ...(isWebOnly && { isWebOnly }),
      question: question.value,
      profile,
      instructions: config.instructions ?? SYSTEM_POLICY,
      today: tokyoDate(clock.now()),
      deadlineMs: startedMs + config.timeoutMs,
    };
    const reply = await inFlight.run(requestKey, (controller) => this.#search(request, observer, controller));
    return reply.andThen((reply) => {
      const report = { ...reply.report, seconds: (clock.elapsedMs() - startedMs) / 1000 };
      this.#logUsage(report);
      const context = { ...config, question: question.value, model: profile.model, today: request.today };
      return toAnswerResult(reply, context).map((result) => ({ result, report }));
    });
  }

  /** Searches until the deadline. */
  async #search(
    request: SearchRequest,
    observer: SearchObserver,
    controller: AbortController,
  ): Promise<Result<SearchReply, AnswerError>> {
    const { llmSearch, clock, config } = this.#deps;
    const { signal } = controller;
    const toAbortError = (): AnswerError =>
      signal.reason === ('timed_out' satisfies AbortCause)
        ? { kind: 'timed_out', timeoutMs: config.timeoutMs }
        : { kind: 'cancelled' };
    void clock.sleep(config.timeoutMs, signal).then((outcome) => {
      if (outcome === 'elapsed') controller.abort('timed_out' satisfies AbortCause);
    });
    try {
      observer.onProgress({ kind: 'asking' });
      const reply = await llmSearch.search(request, observer, signal);
      if (signal.aborted) return err(toAbortError());
      if (reply.isOk()) return ok(reply.value);
      return err(reply.error.kind === 'aborted' ? toAbortError() : reply.error);
    } finally {
      // Ends the timer.
      controller.abort('settled' satisfies AbortCause);
    }
  }

  #logProfile(tool: ToolName, { model }: ModelProfile): void {
    const { logger } = this.#deps;
    if (!logger.isDebug) return;
    const { verbosity, reasoning } = modelSupport(model);
    logger.debug(`answer: profile=${tool} model=${model} supports={verbosity:${verbosity}, reasoning:${reasoning}}`);
  }

  #logUsage({ model = '', responseId = '', usage, searches, attempts, seconds }: Answer['report']): void {
    const { logger } = this.#deps;
    if (!logger.isDebug) return;
    const { inputTokens = '', cachedTokens = '', reasoningTokens = '', outputTokens = '' } = usage ?? {};
    const tokens = `input=${inputTokens} cached=${cachedTokens} reasoning=${reasoningTokens} output=${outputTokens}`;
    logger.debug(
      `answer: usage model=${model} response=${responseId} ${tokens} searches=${searches} attempts=${attempts} seconds=${seconds.toFixed(3)}`,
    );
  }
}
