import { err, ok } from 'neverthrow';
import { type GroundingPolicy, isReadOnly, MAX_FUNCTIONS, type Offer, toOffer } from '../domain/grounding.ts';
import { withoutUndefined } from '../domain/json.ts';
import { type OwnSource, resolveMarkers } from '../domain/own-source.ts';
import type { ToolCallError } from '../domain/tool-call-error.ts';
import { GroundedCalls, RESERVED_MS } from './grounded-calls.ts';
import type { Clock } from './ports/clock.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchReply,
  SearchReport,
  SearchRequest,
  TokenUsage,
} from './ports/llm-search.ts';
import type { LlmTurns, Round, Turn, WebAccess } from './ports/llm-turns.ts';
import type { Logger } from './ports/logger.ts';
import type { ToolBox } from './ports/tool-box.ts';

export interface GroundedSearchOptions {
  readonly policy: GroundingPolicy;
  /** For questions that must not use own tools, or cannot. */
  readonly llmSearch: LlmSearch;
  readonly turns: LlmTurns;
  readonly toolBox: ToolBox;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The message for a failed call, for the model. */
  readonly messageFor: (error: ToolCallError) => string;
}

/** How long an answer waits for first starts of servers (ruling L6). */
const START_MS = 10_000;

/**
 * Answers with the web and with the user's own tools, in rounds: the model asks for calls, gets their outputs, and asks again until it
 * answers (rulings L1 to L24). No request after the first private output permits a live search, unless `web` is `always`.
 */
export class GroundedSearch implements LlmSearch {
  readonly #options: GroundedSearchOptions;
  readonly #warned = new Set<string>();
  /** Whether every tool of the latest offer only reads; unknown before the first. */
  #isOfferReadOnly: boolean | undefined;

  constructor(options: GroundedSearchOptions) {
    this.#options = options;
  }

  /** Whether identical questions may share a search: no tool with effects may be offered (ruling L16). */
  isShareable(request: SearchRequest): boolean {
    const lists = Object.values(this.#options.policy.tools);
    return !this.#isAllowed(request) || lists.every((list) => list === 'all') || this.#isOfferReadOnly === true;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const { policy, llmSearch, toolBox } = this.#options;
    if (!this.#isAllowed(request)) return llmSearch.search(request, observer, signal);
    const { tools, unavailable } = await toolBox.list(Object.keys(policy.tools), START_MS, signal);
    if (signal.aborted) return err({ kind: 'aborted' });
    const offer = toOffer(tools, policy);
    this.#warn(offer);
    if (offer.functions.length > MAX_FUNCTIONS)
      return err({ kind: 'too_many_functions', count: offer.functions.length });
    this.#isOfferReadOnly = offer.functions.every(({ tool }) => isReadOnly(tool));
    const hasTime = request.deadlineMs - this.#options.clock.elapsedMs() >= RESERVED_MS;
    const functions = hasTime ? offer.functions : [];
    const missing = unavailable.length === 0 ? {} : { unavailableServers: unavailable };
    if (functions.length === 0 && policy.web !== 'never') {
      const outcome = await llmSearch.search(request, observer, signal);
      return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...missing } }));
    }
    const outcome = await this.#converse(request, functions, observer, signal);
    return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...missing } }));
  }

  /** Over HTTP, only callers that the configuration names (ruling L22). */
  #isAllowed({ isLocal, isWebOnly, caller }: SearchRequest): boolean {
    return isWebOnly !== true && (isLocal === true || this.#options.policy.callers.includes(caller));
  }

  async #converse(
    request: SearchRequest,
    functions: Offer['functions'],
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<SearchOutcome> {
    const { policy, turns } = this.#options;
    const { maxRounds, maxCalls } = policy;
    const calls = new GroundedCalls({
      ...this.#options,
      ...policy,
      functions,
      observer,
      deadlineMs: request.deadlineMs,
    });
    const rounds: Round[] = [];
    const replies: SearchReply[] = [];
    for (let round = 0; ; round += 1) {
      const isLast = round >= maxRounds - 1;
      const mayCall = functions.length > 0 && !isLast && !calls.isExhausted && calls.hasTime;
      const web = webAccess(policy.web, calls.hasPrivateOutput);
      if (round > 0) observer.onProgress({ kind: 'asking', round: round + 1 });
      const outcome = await turns.turn({ ...request, functions, mayCall, web, rounds, round }, observer, signal);
      if (outcome.isErr()) return err(outcome.error);
      const turn = outcome.value;
      replies.push(turn.reply);
      if (turn.calls.length === 0 || !mayCall) {
        const isCutOff =
          turn.reply.text.trim() === '' && round > 0 && !mayCall && turn.reply.ending.kind === 'complete';
        if (!isCutOff) return ok(this.#combine(turn, replies, calls, request.isLocal === true));
        const limit = isLast ? 'rounds' : calls.isExhausted ? 'calls' : 'time';
        return err({ kind: 'no_final_answer', limit, max: limit === 'rounds' ? maxRounds : maxCalls });
      }
      const outputs = await calls.run(turn.calls, signal);
      if (signal.aborted) return err({ kind: 'aborted' });
      rounds.push({ items: turn.items, outputs });
    }
  }

  /** The text of the last round, and the sources and costs of all (rulings L23 to L25). */
  #combine({ reply }: Turn, replies: readonly SearchReply[], calls: GroundedCalls, isLocal: boolean): SearchReply {
    // Paths of this machine are for its user only.
    const sources = calls.sources.map((source) =>
      isLocal || !/^file:/i.test(source.url) ? source : withoutPath(source),
    );
    const { text, marked } = resolveMarkers(reply.text, sources);
    const all = <T>(of: (reply: SearchReply) => readonly T[]) => replies.flatMap(of);
    return {
      ...reply,
      text,
      searched: replies.some(({ searched }) => searched),
      sources: {
        cited: all(({ sources }) => sources.cited),
        consulted: all(({ sources }) => sources.consulted),
        opened: all(({ sources }) => sources.opened),
      },
      own: { marked, answered: sources },
      report: { ...sum(replies.map(({ report }) => report)), rounds: replies.length, toolCalls: calls.summaries },
    };
  }

  #warn({ tooLarge, unknown }: Offer): void {
    const once = (key: string, line: string) => {
      if (this.#warned.has(key)) return;
      this.#warned.add(key);
      this.#options.logger.warn(line);
    };
    for (const name of tooLarge) once(name, `grounding: the schema of ${name} is too large; the tool is not offered`);
    for (const name of unknown) once(name, `grounding: there is no tool ${name} (grounding.tools)`);
  }
}

function webAccess(web: GroundingPolicy['web'], hasPrivateOutput: boolean): WebAccess {
  if (web === 'never') return 'absent';
  return web === 'before' && hasPrivateOutput ? 'closed' : 'open';
}

function withoutPath({ title: _, ...source }: OwnSource): OwnSource {
  return { ...source, url: source.call };
}

function sum(reports: readonly SearchReport[]): SearchReport {
  const last = reports.at(-1);
  const usages = reports.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  const total = (of: (usage: TokenUsage) => number) => usages.reduce((sum, usage) => sum + of(usage), 0);
  return withoutUndefined({
    model: last?.model,
    responseId: last?.responseId,
    serviceTier: last?.serviceTier,
    usage:
      usages.length === 0
        ? undefined
        : {
            inputTokens: total(({ inputTokens }) => inputTokens),
            cachedTokens: total(({ cachedTokens }) => cachedTokens),
            outputTokens: total(({ outputTokens }) => outputTokens),
            reasoningTokens: total(({ reasoningTokens }) => reasoningTokens),
            ...(usages.some(({ cacheWriteTokens }) => cacheWriteTokens !== undefined) && {
              cacheWriteTokens: total(({ cacheWriteTokens = 0 }) => cacheWriteTokens),
            }),
          },
    queries: reports.flatMap(({ queries }) => queries),
    searches: reports.reduce((sum, { searches }) => sum + searches, 0),
    attempts: reports.reduce((sum, { attempts }) => sum + attempts, 0),
  });
}
