import { err, ok, type Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../domain/answer-error.ts';
import { type AnswerResult, toAnswerResult } from '../domain/answer-result.ts';
import { type ModelProfile, modelSupport, profileFor } from '../domain/model-profile.ts';
import { parseQuestion } from '../domain/question.ts';
import { tokyoDate } from '../domain/tokyo-date.ts';
import type { ToolName } from '../domain/tool-name.ts';
import type { AbortCause, InFlightRequests } from './in-flight-requests.ts';
import type { Clock } from './ports/clock.ts';
import type { Config } from './ports/config.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchReport, SearchRequest } from './ports/llm-search.ts';
import type { Logger } from './ports/logger.ts';

export interface AnswerQueryInput {
  /** Unique among the requests that run now; CancelRequest finds it by this. */
  readonly requestKey: string;
  /** Who asks: questions of different callers are never shared. */
  readonly caller: string;
  readonly tool: ToolName;
  /** The tool's arguments as the caller sent them. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly observer: SearchObserver;
}

/** An answer, and what it took. */
export interface Answer {
  readonly result: AnswerResult;
  readonly report: SearchReport & { readonly seconds: number };
}

/** Answers a question with a model that may search the web (spec 6). */
export class AnswerQuery {
  readonly #llmSearch: LlmSearch;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #inFlight: InFlightRequests;
  readonly #config: Config;

  constructor(llmSearch: LlmSearch, clock: Clock, logger: Logger, inFlight: InFlightRequests, config: Config) {
    this.#llmSearch = llmSearch;
    this.#clock = clock;
    this.#logger = logger;
    this.#inFlight = inFlight;
    this.#config = config;
  }

  /** The promise does not reject for a failure that a caller may act on. `signal` cancels the question. */
  async execute(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const question = parseQuestion(input.tool, input.args, this.#config.searchDefaults);
    if (question.isErr()) return err({ kind: 'invalid_arguments', problems: question.error });

    const profile = profileFor(input.tool, this.#config.profiles);
    if (profile === undefined) return err({ kind: 'no_profile', tool: input.tool });
    this.#logProfile(input.tool, profile);
    input.observer.onProgress({ kind: 'asking' });

    const startedMs = this.#clock.elapsedMs();
    const request: SearchRequest = {
      caller: input.caller,
      question: question.value,
      profile,
      instructions: this.#config.instructions,
      today: tokyoDate(this.#clock.now()),
      deadlineMs: startedMs + this.#config.timeoutMs,
    };
    const reply = await this.#inFlight.run(input.requestKey, signal, (controller) =>
      this.#searchUntilDeadline(request, input.observer, controller),
    );
    return reply.andThen((reply) => {
      const report = { ...reply.report, seconds: (this.#clock.elapsedMs() - startedMs) / 1000 };
      this.#logUsage(report);
      return toAnswerResult(reply, {
        question: request.question,
        model: profile.model,
        maxCitations: this.#config.maxCitations,
        maxAnswerChars: this.#config.maxAnswerChars,
        today: request.today,
      }).map((result) => ({ result, report }));
    });
  }

  async #searchUntilDeadline(
    request: SearchRequest,
    observer: SearchObserver,
    controller: AbortController,
  ): Promise<Result<SearchReply, AnswerError>> {
    void this.#clock.sleep(this.#config.timeoutMs, controller.signal).then((outcome) => {
      if (outcome === 'elapsed') controller.abort('timed_out' satisfies AbortCause);
    });
    try {
      const reply = await this.#llmSearch.search(request, observer, controller.signal);
      if (controller.signal.aborted) return err(this.#toAbortError(controller.signal));
      return reply.isOk() ? ok(reply.value) : err(this.#toAnswerError(reply.error, controller.signal));
    } finally {
      // Ends the timer.
      controller.abort('settled' satisfies AbortCause);
    }
  }

  #toAnswerError(error: SearchError, signal: AbortSignal): AnswerError {
    return error.kind === 'aborted' ? this.#toAbortError(signal) : error;
  }

  #toAbortError(signal: AbortSignal): AnswerError {
    return signal.reason === ('timed_out' satisfies AbortCause)
      ? { kind: 'timed_out', timeoutMs: this.#config.timeoutMs }
      : { kind: 'cancelled' };
  }

  #logProfile(tool: ToolName, profile: ModelProfile): void {
    if (!this.#logger.isDebug) return;
    const { verbosity, reasoning } = modelSupport(profile.model);
    this.#logger.debug(
      `answer: profile=${tool} model=${profile.model} supports={verbosity:${verbosity}, reasoning:${reasoning}}`,
    );
  }

  #logUsage({ model, responseId, usage, searches, attempts, seconds }: Answer['report']): void {
    if (!this.#logger.isDebug) return;
    const { inputTokens, cachedTokens, reasoningTokens, outputTokens } = usage ?? {};
    const tokens = `input=${inputTokens ?? ''} cached=${cachedTokens ?? ''} reasoning=${reasoningTokens ?? ''} output=${outputTokens ?? ''}`;
    this.#logger.debug(
      `answer: usage model=${model ?? ''} response=${responseId ?? ''} ${tokens} searches=${searches} attempts=${attempts} seconds=${seconds.toFixed(3)}`,
    );
  }
}
