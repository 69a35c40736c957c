import { err, ok, type Result } from 'neverthrow';
import type { AnswerError } from '../../domain/answers/answer-error.ts';
import { toAnswerResult } from '../../domain/answers/answer-result.ts';
import type { KnownPage } from '../../domain/answers/known-page.ts';
import { type ModelProfile, modelSupport, profileFor } from '../../domain/answers/model-profile.ts';
import { parseQuestion } from '../../domain/answers/question.ts';
import { systemPolicyIn } from '../../domain/answers/system-policy.ts';
import type { ToolName } from '../../domain/answers/tool-name.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import { zonedDate } from '../../domain/values/zoned-date.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config } from '../ports/config.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { Logger } from '../ports/logger.ts';
import { type Answer, toAnswerError } from './answer.ts';
import type { Answering, LongAnswers, Recovery, TaskStatus } from './long-answers.ts';
import type { PageChecks } from './page-checks.ts';

export interface AnswerQueryInput extends Pick<SearchRequest, 'by' | 'isWebOnly' | 'isLong' | 'isUnlimited'> {
  readonly tool: ToolName;
  /** The tool's arguments as received. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly observer: SearchObserver;
  /** The client can get a task instead of an answer (ruling K15). */
  readonly takesTask?: boolean | undefined;
}

/** A reply, and what is known of the pages that it cites, if they were read. */
interface Found {
  readonly reply: SearchReply;
  readonly pages: ReadonlyMap<string, KnownPage> | undefined;
}

export interface AnswerQueryDependencies {
  readonly llmSearch: LlmSearch;
  /** Absent if no tool gives answers that take minutes. */
  readonly long?: LongAnswers | undefined;
  /** Whether the answer to a question may take minutes (rulings K1 and K4). */
  readonly isLong: (request: SearchRequest) => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Config;
  /** Absent if cited pages are not to be read. */
  readonly pageChecks?: PageChecks | undefined;
}

/** Answers a question with a model that may search the web (spec 6). */
export class AnswerQuery {
  readonly #deps: AnswerQueryDependencies;
  readonly #spare: AbortController[] = [];

  constructor(deps: AnswerQueryDependencies) {
    this.#deps = deps;
  }

  /** The promise does not reject for a failure that the caller can act on. Ends with `cancelled` soon after `signal` aborts. */
  async execute(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const { args, observer, tool, takesTask = false } = input;
    const { config, long, isLong } = this.#deps;
    const recovery = this.#toRecovery(args.query, input);
    if (long !== undefined && recovery !== undefined)
      return recovery.isErr() ? err(recovery.error) : long.fetch(recovery.value, { observer, takesTask }, signal);
    const asked = this.#toRequest(tool, input);
    if (asked.isErr()) return err(asked.error);
    const request = asked.value;
    if (long === undefined || request.isLong || !isLong(request)) return this.#answer(request, observer, signal);
    const answer: Answering = (request, observer, untilOver) =>
      this.#answer(request, observer, untilOver, config.longAnswers?.maxMs);
    return long.ask({ request, observer, takesTask }, answer, signal);
  }

  /** What becomes of the search that a task names (ruling K16). `isReturned`: a client gets the answer, if there is one. */
  async taskStatus(taskId: string, by: CallOrigin, isReturned: boolean): Promise<TaskStatus> {
    const { long } = this.#deps;
    const recovery = this.#toRecovery(taskId, { by });
    if (long === undefined || !recovery?.isOk()) return { state: 'unknown' };
    return long.taskStatus(recovery.value, isReturned);
  }

  /** Ends the search that a task names. False if there is no such task (ruling K18). */
  cancelTask(taskId: string, by: CallOrigin): boolean {
    const recovery = this.#toRecovery(taskId, { by });
    if (!recovery?.isOk()) return false;
    this.#deps.long?.cancelTask(recovery.value);
    return true;
  }

  /** What a handle names; undefined for a question. The question of the handle is not known here: notes are in the language of the answer. */
  #toRecovery(
    query: unknown,
    { by, isUnlimited }: Pick<AnswerQueryInput, 'by' | 'isUnlimited'>,
  ): Result<Recovery, AnswerError> | undefined {
    const { long, clock } = this.#deps;
    const handle = typeof query === 'string' ? long?.handleIn(query) : undefined;
    if (long === undefined || handle === undefined) return undefined;
    if (!long.isValid(handle, by)) return err({ kind: 'unknown_answer' });
    const startedMs = clock.elapsedMs();
    return this.#toRequest(handle.tool, { by, isUnlimited, args: { query } }).map((request) => {
      const toAnswer: Recovery['toAnswer'] = async (reply, signal) => {
        const recovered = { ...request, question: { ...request.question, query: reply.text } };
        return this.#toAnswer(recovered, await this.#readPages(recovered, reply, signal), startedMs);
      };
      return { handle, request, toAnswer };
    });
  }

  #toRequest(
    tool: ToolName,
    { by, isWebOnly, isLong, isUnlimited, args }: Omit<AnswerQueryInput, 'tool' | 'observer'>,
  ): Result<SearchRequest, AnswerError> {
    const { config, clock } = this.#deps;
    const question = parseQuestion(tool, args, config.searchDefaults);
    if (question.isErr()) return err({ kind: 'invalid_arguments', problems: question.error });
    const profile = profileFor(tool, config.profiles);
    if (profile === undefined) return err({ kind: 'no_profile', tool });
    this.#logProfile(tool, profile);
    const startedMs = clock.elapsedMs();
    return ok({
      by,
      isWebOnly,
      isUnlimited,
      ...(isLong && { isLong }),
      question: question.value,
      profile,
      instructions: config.instructions ?? systemPolicyIn(config.timeZone),
      today: zonedDate(clock.now(), config.timeZone),
      timeZone: config.timeZone,
      deadlineMs: () => startedMs + config.timeoutMs,
    });
  }

  /** Searches until the deadline. It ends the reading of pages, and not the answer. */
  async #answer(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
    maxMs?: number,
  ): Promise<Result<Answer, AnswerError>> {
    const { clock, long, config } = this.#deps;
    const startedMs = clock.elapsedMs();
    const timeoutMs = maxMs ?? config.timeoutMs;
    const { llmSearch } = (request.isLong && long) || this.#deps;
    const find = async (untilOver: AbortSignal): Promise<Result<Found, AnswerError> | 'aborted'> => {
      observer.onProgress({ kind: 'asking' });
      const reply = await llmSearch.search(request, observer, untilOver);
      if (untilOver.aborted) return 'aborted';
      if (reply.isErr()) return err(toAnswerError(reply.error));
      return ok(await this.#readPages(request, reply.value, untilOver));
    };
    const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, find, this.#spare);
    if (outcome !== 'aborted' && (isTimedOut || !signal.aborted))
      return outcome.andThen((found) => this.#toAnswer(request, found, startedMs));
    if (!isTimedOut) return err({ kind: 'cancelled' });
    return err({ kind: 'timed_out', timeoutMs, ...(maxMs !== undefined && { limit: 'long_answers.max_ms' as const }) });
  }

  async #readPages(request: SearchRequest, reply: SearchReply, signal: AbortSignal): Promise<Found> {
    return { reply, pages: await this.#deps.pageChecks?.read(reply, this.#contextOf(request), signal) };
  }

  #toAnswer(request: SearchRequest, { reply, pages }: Found, startedMs: number): Result<Answer, AnswerError> {
    const hasSearched = reply.searched || reply.sources.cited.length > 0;
    if (request.profile.search === 'required' && !hasSearched) return err({ kind: 'not_searched' });
    const report = { ...reply.report, seconds: (this.#deps.clock.elapsedMs() - startedMs) / 1000 };
    this.#logUsage(report);
    return toAnswerResult(reply, { ...this.#contextOf(request), pages }).map((result) => {
      const ofPages = pages && this.#deps.pageChecks?.report(result, reply, pages);
      return { result, report: { ...report, ...ofPages } };
    });
  }

  #contextOf({ question, profile, today, isUnlimited }: SearchRequest) {
    const { maxCitations, blockedDomains, ...config } = this.#deps.config;
    // A person reads it, and not a model.
    const maxAnswerChars = isUnlimited ? Number.POSITIVE_INFINITY : config.maxAnswerChars;
    return { maxCitations, maxAnswerChars, blockedDomains, question, model: profile.model, today };
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
