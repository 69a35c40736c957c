import { err, ok, type Result } from 'neverthrow';
import type { AnswerError, EmptyAnswer } from '../../domain/answers/answer-error.ts';
import { type AnswerHandle, handleIn } from '../../domain/answers/answer-handle.ts';
import { renderAnswer } from '../../domain/answers/answer-result.ts';
import { type ChosenCitations, chooseCitations } from '../../domain/answers/chosen-citations.ts';
import type { KnownPage } from '../../domain/answers/citation.ts';
import { type ModelProfile, profileFor, profileSupport } from '../../domain/answers/model-profile.ts';
import type { Cost } from '../../domain/answers/prices.ts';
import { parseQuestion, type ToolName } from '../../domain/answers/question.ts';
import { systemPolicyIn } from '../../domain/answers/system-policy.ts';
import { unfinishedAnswer } from '../../domain/answers/unfinished-answer.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import { zonedDate } from '../../domain/values/zoned-date.ts';
import { withDeadline } from '../async/deadline.ts';
import type { GroundedSearch } from '../grounded/grounded-search.ts';
import type { Config } from '../ports/config.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../ports/llm-search.ts';
import type { Services } from '../ports/services.ts';
import { type Answer, toAnswerError } from '../tools/tool-call.ts';
import type { LongAnswers, Unfinished } from './long-answers.ts';
import type { PageChecks } from './page-checks.ts';
import { payFor } from './paid-use.ts';

export interface AnswerQueryInput {
  readonly by: CallOrigin;
  readonly tool: ToolName;
  /** The tool's arguments as received. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly observer: SearchObserver;
  /** `plain`, the default: as configured; without own tools: `web_only`, or `long`, as if answers of the tool might take minutes. */
  readonly way?: 'plain' | 'web_only' | 'long' | undefined;
  /** Whether a person waits: the answer is then never cut, and an answer that takes minutes has no time limit. */
  readonly isUnlimited?: boolean | undefined;
}

/** A reply, the text that decides the language of its notes, its citations, and the facts about their pages if they were read. */
interface Found {
  readonly reply: SearchReply;
  readonly query: string;
  readonly chosen: Result<ChosenCitations, EmptyAnswer>;
  readonly pages: ReadonlyMap<string, KnownPage> | undefined;
  /** What this call pays. */
  readonly cost: Cost | undefined;
}

export interface AnswerQueryDependencies extends Pick<Services, 'clock' | 'logger'> {
  readonly web: LlmSearch;
  /** Absent if no caller may use own tools. */
  readonly grounded?: GroundedSearch | undefined;
  /** Absent if no tool gives answers that take minutes. */
  readonly long?: LongAnswers | undefined;
  readonly config: Config;
  /** Absent if cited pages are not to be read. */
  readonly pageChecks?: PageChecks | undefined;
}

/** How a question is asked, and for how long. With a handle, its question is not known: notes are then in the language of the answer. */
type Plan = { readonly mode: SearchRequest['mode']; readonly limitMs: number } & (
  | { readonly asked: LlmSearch | LongAnswers }
  | { readonly asked: LongAnswers; readonly handle: AnswerHandle }
);

const CANCELLED = { kind: 'cancelled' } as const;

/** Answers a question with a model that may search the web. */
export class AnswerQuery {
  readonly #deps: AnswerQueryDependencies;
  readonly #instructions: string;

  constructor(deps: AnswerQueryDependencies) {
    this.#deps = deps;
    this.#instructions = deps.config.instructions ?? systemPolicyIn(deps.config.timeZone);
  }

  /** The promise does not reject for a failure that the caller can act on. Ends with `cancelled` soon after `signal` aborts. */
  async execute(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const { query } = input.args;
    const { long } = this.#deps;
    const handle = typeof query === 'string' ? long && handleIn(query) : undefined;
    if (long === undefined || handle === undefined) return this.#answer(input, this.#planOf(input), signal);
    await long.prepare(signal);
    if (!long.isValid(handle, input.by)) return err({ kind: 'unknown_answer' });
    const plan: Plan = { asked: long, mode: 'background', limitMs: this.#longMs(input), handle };
    const answer = await this.#answer({ ...input, tool: handle.tool, args: { query } }, plan, signal);
    // A call with a handle only waits: its cancellation cancels nothing at the API.
    return answer.mapErr((error) => (error.kind === 'cancelled' ? { ...error, isDetached: true } : error));
  }

  #planOf(input: AnswerQueryInput): Plan {
    const { web, grounded, long, config } = this.#deps;
    const { way = 'plain' } = input;
    const { longAnswers } = config;
    const limitMs = config.request.timeoutMs;
    const own = way === 'plain' && grounded?.mayUseTools(input) ? grounded : undefined;
    if (own !== undefined) return { asked: own, mode: 'web', limitMs };
    if (long !== undefined && (way === 'long' || longAnswers?.tools.includes(input.tool)))
      return { asked: long, mode: 'background', limitMs: this.#longMs(input) };
    return { asked: web, mode: 'web', limitMs };
  }

  #longMs({ isUnlimited }: AnswerQueryInput): number {
    return isUnlimited ? Number.POSITIVE_INFINITY : this.#deps.config.request.timeoutMs;
  }

  #toRequest({ tool, by, args }: AnswerQueryInput, { mode, limitMs }: Plan): Result<SearchRequest, AnswerError> {
    const { config, clock } = this.#deps;
    const question = parseQuestion(tool, args, config.search.defaults);
    if (question.isErr()) return err({ kind: 'invalid_arguments', problems: question.error });
    const profile = profileFor(tool, config.profiles);
    if (profile === undefined) return err({ kind: 'no_profile', tool });
    this.#logProfile(tool, profile);
    return ok({
      by,
      question: question.value,
      profile,
      instructions: this.#instructions,
      today: zonedDate(clock.now(), config.timeZone),
      timeZone: config.timeZone,
      deadlineMs: clock.elapsedMs() + limitMs,
      mode,
    });
  }

  /** Searches until the deadline. If the deadline passes while pages are read, only the reading ends, not the answer. */
  async #answer(input: AnswerQueryInput, plan: Plan, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const { clock } = this.#deps;
    const { limitMs } = plan;
    const isFetched = 'handle' in plan;
    const asked = this.#toRequest(input, plan);
    if (asked.isErr()) return err(asked.error);
    const request = asked.value;
    const paid = payFor(input.observer, this.#deps.config.priceOf?.(request.profile.model));
    const { observer } = paid;
    const startedMs = clock.elapsedMs();
    const find = async (untilOver: AbortSignal): Promise<Result<Found, AnswerError | Unfinished>> => {
      if (!isFetched) observer.onProgress({ kind: 'asking' });
      const reply = await (isFetched
        ? plan.asked.fetch(plan.handle, request, observer, untilOver)
        : plan.asked.search(request, observer, untilOver));
      if (reply.isErr()) {
        const { error } = reply;
        if (error.kind === 'unfinished') return err(error);
        return err(untilOver.aborted ? CANCELLED : toAnswerError(error));
      }
      if (untilOver.aborted) return err(CANCELLED);
      const query = isFetched ? reply.value.text : request.question.query;
      return ok({
        reply: reply.value,
        query,
        cost: paid.cost(),
        ...(await this.#readPages(request, reply.value, untilOver)),
      });
    };
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, find);
    const isLeft = signal.aborted && !isTimedOut;
    if (outcome.isOk()) return isLeft ? err(CANCELLED) : this.#toAnswer(request, outcome.value, input, startedMs);
    const { error } = outcome;
    if (error.kind === 'unfinished') return ok(this.#unfinished(error, request));
    if (isTimedOut && error.kind === 'cancelled') return err({ kind: 'timed_out', timeoutMs: limitMs });
    return err(isLeft ? CANCELLED : error);
  }

  /** The answer for a caller whose time limit has passed while the search continues. */
  #unfinished({ handle, language, waitedMs, searches }: Unfinished, { profile }: SearchRequest): Answer {
    const answer = unfinishedAnswer(language, handle, waitedMs, searches);
    const checks = this.#deps.pageChecks && { checks: [] };
    const report = { queries: [], searches, attempts: 1, seconds: waitedMs / 1000, ...checks };
    const result = { answer, used_search: false, citations: [], model: profile.model };
    return { result, report: { ...report, state: 'unfinished', handle } };
  }

  async #readPages({ today, by }: SearchRequest, reply: SearchReply, signal: AbortSignal) {
    const { policy, blockedDomains } = this.#deps.config;
    const chosen = chooseCitations(reply, { ...policy, blockedDomains, today });
    const pages = chosen.isOk() ? await this.#deps.pageChecks?.read(chosen.value, reply, by.caller, signal) : undefined;
    return { chosen, pages };
  }

  #toAnswer(
    { question, profile }: SearchRequest,
    { reply, query, chosen, pages, cost }: Found,
    { isUnlimited }: AnswerQueryInput,
    startedMs: number,
  ): Result<Answer, AnswerError> {
    const hasSearched = reply.searched || reply.sources.cited.length > 0;
    if (profile.search === 'required' && !hasSearched) return err({ kind: 'not_searched' });
    const seconds = (this.#deps.clock.elapsedMs() - startedMs) / 1000;
    const report = { ...reply.report, seconds, ...(cost && { cost }) };
    this.#logUsage(report);
    // A person, not a model, reads the answer.
    const maxAnswerChars = isUnlimited ? Number.POSITIVE_INFINITY : this.#deps.config.server.maxAnswerChars;
    const context = { maxAnswerChars, question: { ...question, query }, model: profile.model };
    return chosen.map((chosen) => {
      const result = renderAnswer(chosen, context, pages);
      const ofPages = pages && this.#deps.pageChecks?.report(result, reply, pages);
      return { result, report: { ...report, ...ofPages } };
    });
  }

  #logProfile(tool: ToolName, profile: ModelProfile): void {
    const { logger } = this.#deps;
    if (!logger.isDebug) return;
    const { verbosity, reasoning } = profileSupport(profile);
    logger.debug(
      `answer: profile=${tool} model=${profile.model} supports={verbosity:${verbosity}, reasoning:${reasoning}}`,
    );
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
