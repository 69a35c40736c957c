import { err, ok, type Result } from 'neverthrow';
import type { AnswerError } from '../../domain/answers/answer-error.ts';
import { toAnswerResult } from '../../domain/answers/answer-result.ts';
import type { KnownPage } from '../../domain/answers/known-page.ts';
import { type ModelProfile, modelSupport, profileFor } from '../../domain/answers/model-profile.ts';
import { parseQuestion } from '../../domain/answers/question.ts';
import { systemPolicyIn } from '../../domain/answers/system-policy.ts';
import type { ToolName } from '../../domain/answers/tool-name.ts';
import { zonedDate } from '../../domain/values/zoned-date.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config } from '../ports/config.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { Logger } from '../ports/logger.ts';
import type { Answer } from './answer.ts';
import type { LongAnswers } from './long-answers.ts';
import type { LongRun } from './long-search.ts';
import type { LongTasks, TaskStatus } from './long-tasks.ts';
import type { PageChecks } from './page-checks.ts';

export interface AnswerQueryInput extends Pick<SearchRequest, 'caller' | 'isLocal' | 'isWebOnly' | 'isLong'> {
  readonly tool: ToolName;
  /** The tool's arguments as received. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly observer: SearchObserver;
  /** The answer is not limited to `maxAnswerChars`: a person reads it, and not a model. */
  readonly isUnlimited?: boolean | undefined;
  /** The client can get a task instead of an answer (ruling K15). */
  readonly takesTask?: boolean | undefined;
}

/** Whose task it is. */
export type TaskOwner = Pick<SearchRequest, 'caller' | 'isLocal'>;

/** A reply, and what is known of the pages that it cites, if they were read. */
interface Found {
  readonly reply: SearchReply;
  readonly pages: ReadonlyMap<string, KnownPage> | undefined;
}

/** Answers that take minutes; absent if no tool gives them. */
export interface LongDependencies {
  readonly answers: LongAnswers;
  readonly tasks: LongTasks;
  /** Searches that continue if their connection ends. */
  readonly llmSearch: LlmSearch;
  /** Whether a question is one of them (rulings K1 and K4). */
  readonly takes: (request: SearchRequest) => boolean;
}

interface Dependencies {
  readonly llmSearch: LlmSearch;
  readonly long?: LongDependencies | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Config;
  /** Absent if cited pages are not to be read. */
  readonly pageChecks?: PageChecks | undefined;
}

/** Answers a question with a model that may search the web (spec 6). */
export class AnswerQuery {
  readonly #deps: Dependencies;
  readonly #spare: AbortController[] = [];

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** The promise does not reject for a failure that the caller can act on. Ends with `cancelled` soon after `signal` aborts. */
  async execute(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const { args, observer, tool } = input;
    const { clock, config, long } = this.#deps;
    const startedMs = clock.elapsedMs();
    const handle = typeof args.query === 'string' ? long?.answers.handleIn(args.query) : undefined;
    const known = handle === undefined ? input : { ...input, args: { query: args.query } };
    const asked = this.#toRequest(handle === undefined || handle === 'malformed' ? tool : handle.tool, known);
    if (asked.isErr()) return err(asked.error);
    const request = asked.value;
    const call = { request, observer, takesTask: input.takesTask === true };
    if (long !== undefined && handle !== undefined) {
      return long.answers.fetch(handle, call, this.#recovering(request, startedMs), signal);
    }
    if (request.isLong || long?.takes(request) !== true) return this.#answer(request, observer, signal);
    const maxMs = config.longAnswers?.maxMs ?? config.timeoutMs;
    const answer: LongRun = (observer, untilOver, onPlace, isOrdinary) => {
      const deadlineMs = () => (isOrdinary() ? request.deadlineMs() : startedMs + maxMs);
      return this.#answer({ ...request, isLong: true, onPlace, deadlineMs }, observer, untilOver, maxMs);
    };
    return long.answers.ask(call, answer, signal);
  }

  /** What becomes of the search that a task names (ruling K16). `isReturned`: a client gets the answer, if there is one. */
  async taskStatus(taskId: string, by: TaskOwner, isReturned: boolean, signal: AbortSignal): Promise<TaskStatus> {
    const task = this.#toTask(taskId, by);
    if (task === undefined) return { state: 'unknown' };
    const { tasks, handle, request } = task;
    const toAnswer = this.#recovering(request, this.#deps.clock.elapsedMs());
    return tasks.status(handle, request, toAnswer, isReturned, signal);
  }

  /** Ends the search that a task names. False if there is no such task (ruling K18). */
  async cancelTask(taskId: string, by: TaskOwner): Promise<boolean> {
    const task = this.#toTask(taskId, by);
    return (await task?.tasks.cancel(task.handle, task.request)) === true;
  }

  #toTask(taskId: string, by: TaskOwner) {
    const { long } = this.#deps;
    const handle = long?.answers.handleIn(taskId);
    if (long === undefined || handle === undefined || handle === 'malformed') return undefined;
    const request = this.#toRequest(handle.tool, { ...by, args: { query: taskId } });
    return request.isErr() ? undefined : { tasks: long.tasks, handle, request: request.value };
  }

  #toRequest(
    tool: ToolName,
    { caller, isLocal, isWebOnly, isLong, isUnlimited, args }: Omit<AnswerQueryInput, 'tool' | 'observer'>,
  ): Result<SearchRequest, AnswerError> {
    const { config, clock } = this.#deps;
    const question = parseQuestion(tool, args, config.searchDefaults);
    if (question.isErr()) return err({ kind: 'invalid_arguments', problems: question.error });
    const profile = profileFor(tool, config.profiles);
    if (profile === undefined) return err({ kind: 'no_profile', tool });
    this.#logProfile(tool, profile);
    const startedMs = clock.elapsedMs();
    return ok({
      caller,
      isLocal,
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

  /** Makes the answer of a search that began elsewhere: its question is not known here, so that notes are in the language of the answer. */
  #recovering(request: SearchRequest, startedMs: number) {
    return async (reply: SearchReply, signal: AbortSignal): Promise<Result<Answer, AnswerError>> => {
      const recovered = { ...request, question: { ...request.question, query: reply.text } };
      const pages = await this.#pagesOf(reply, recovered, signal);
      return this.#toAnswer(recovered, { reply, pages }, startedMs);
    };
  }

  async #answer(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
    maxMs?: number,
  ): Promise<Result<Answer, AnswerError>> {
    const startedMs = this.#deps.clock.elapsedMs();
    const found = await this.#find(request, observer, signal, maxMs);
    return found.andThen((found) => this.#toAnswer(request, found, startedMs));
  }

  #toAnswer(request: SearchRequest, { reply, pages }: Found, startedMs: number): Result<Answer, AnswerError> {
    const hasSearched = reply.searched || reply.sources.cited.length > 0;
    if (request.profile.search === 'required' && !hasSearched) return err({ kind: 'not_searched' as const });
    const report = { ...reply.report, seconds: (this.#deps.clock.elapsedMs() - startedMs) / 1000 };
    this.#logUsage(report);
    return toAnswerResult(reply, { ...this.#contextOf(request), pages }).map((result) => {
      const ofPages = pages && this.#deps.pageChecks?.report(result, reply, pages);
      return { result, report: { ...report, ...ofPages } };
    });
  }

  /** Searches until the deadline. It ends the reading of pages, and not the answer. */
  async #find(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
    maxMs: number | undefined,
  ): Promise<Result<Found, AnswerError>> {
    const { clock, long, config } = this.#deps;
    const timeoutMs = maxMs ?? config.timeoutMs;
    const llmSearch = request.isLong ? (long?.llmSearch ?? this.#deps.llmSearch) : this.#deps.llmSearch;
    const find = async (untilOver: AbortSignal) => {
      observer.onProgress({ kind: 'asking' });
      const reply = await llmSearch.search(request, observer, untilOver);
      if (untilOver.aborted) return err({ kind: 'aborted' as const });
      if (reply.isErr()) return err(reply.error);
      return ok({ reply: reply.value, pages: await this.#pagesOf(reply.value, request, untilOver) });
    };
    const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, find, this.#spare);
    if (outcome.isErr() && outcome.error.kind !== 'aborted') return err(outcome.error);
    if (outcome.isOk() && (isTimedOut || !signal.aborted)) return ok(outcome.value);
    if (!isTimedOut) return err({ kind: 'cancelled' });
    return err({ kind: 'timed_out', timeoutMs, ...(maxMs !== undefined && { limit: 'long_answers.max_ms' as const }) });
  }

  #contextOf({ question, profile, today, isUnlimited }: SearchRequest) {
    const { maxCitations, blockedDomains, ...config } = this.#deps.config;
    const maxAnswerChars = isUnlimited ? Number.POSITIVE_INFINITY : config.maxAnswerChars;
    return { maxCitations, maxAnswerChars, blockedDomains, question, model: profile.model, today };
  }

  /** Undefined if cited pages are not to be read. */
  async #pagesOf(reply: SearchReply, request: SearchRequest, signal: AbortSignal): Promise<Found['pages']> {
    return this.#deps.pageChecks?.read(reply, this.#contextOf(request), signal);
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
