import { err, ok } from 'neverthrow';
import { BoundedSet } from '../domain/bounded-set.ts';
import type { GatewayTool } from '../domain/gateway-tool.ts';
import {
  type GroundingPolicy,
  MAX_FUNCTIONS,
  mayHaveEffects,
  type Offer,
  toOffer,
  unknownTools,
} from '../domain/grounding.ts';
import { resolveMarkers, withoutFileUris, withoutLocalPath } from '../domain/own-source.ts';
import { type Redactor, redactedValue } from '../domain/redaction.ts';
import type { ToolCallError } from '../domain/tool-call-error.ts';
import { untilAborted } from './deadline.ts';
import { GroundedCalls, RESERVED_MS } from './grounded-calls.ts';
import type { Clock } from './ports/clock.ts';
import type { LlmSearch, SearchObserver, SearchOutcome, SearchReply, SearchRequest } from './ports/llm-search.ts';
import type { LlmTurns, Round, Turn, WebAccess } from './ports/llm-turns.ts';
import type { Logger } from './ports/logger.ts';
import type { ToolBox } from './ports/tool-box.ts';
import { countUse } from './total-use.ts';

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
  readonly redactor: Redactor;
}

/** How long an answer waits for first starts of servers (ruling L6). */
const START_MS = 10_000;

/**
 * Answers with the web and with the user's own tools, in rounds: the model asks for calls, gets their outputs, and asks again until it
 * answers (rulings L1 to L24). No request after the first private output permits a live search, unless `web` is `always`.
 */
export class GroundedSearch implements LlmSearch {
  readonly #options: GroundedSearchOptions;
  readonly #warned = new BoundedSet();
  /** The tools of the servers that were available for the latest answer. */
  #known: readonly GatewayTool[] = [];

  constructor(options: GroundedSearchOptions) {
    this.#options = options;
  }

  /** Whether identical questions may share a search: no tool with effects may be offered (ruling L16). */
  isShareable(request: SearchRequest): boolean {
    return !this.#isAllowed(request) || !mayHaveEffects(this.#options.policy, this.#known);
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const { policy, llmSearch } = this.#options;
    if (!this.#isAllowed(request)) return llmSearch.search(request, observer, signal);
    const offered = await untilAborted(this.#offer(request, signal), signal);
    if (offered === 'aborted') return err({ kind: 'aborted' });
    const { functions, unavailable } = offered;
    if (functions.length > MAX_FUNCTIONS) return err({ kind: 'too_many_functions', count: functions.length });
    // With `never`, the web stays closed even if no tool can be offered.
    const isPlain = functions.length === 0 && policy.web !== 'never';
    const outcome = isPlain
      ? await llmSearch.search(request, observer, signal)
      : await this.#converse(request, functions, observer, signal);
    const missing = unavailable.length === 0 ? {} : { unavailableServers: unavailable };
    return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...missing } }));
  }

  /** No functions if there is no time for a call (ruling L14); then no server is started either. */
  async #offer(request: SearchRequest, signal: AbortSignal) {
    const { policy, toolBox, clock, redactor } = this.#options;
    const leftMs = () => request.deadlineMs - clock.elapsedMs() - RESERVED_MS;
    if (leftMs() < 0) return { functions: [], unavailable: [] };
    const maxMs = Math.min(START_MS, leftMs());
    const { tools, unavailable } = await toolBox.list(Object.keys(policy.tools), maxMs, signal);
    this.#known = tools;
    const { functions, tooLarge } = toOffer(tools.map(withoutSecrets(redactor)), policy);
    this.#warn(tooLarge, unknownTools(policy, tools, unavailable));
    return { functions: leftMs() < 0 ? [] : functions, unavailable };
  }

  /** Over HTTP, only callers that the configuration names (ruling L22). */
  #isAllowed({ isLocal, isWebOnly, caller }: SearchRequest): boolean {
    return isWebOnly !== true && (isLocal === true || this.#options.policy.callers.includes(caller));
  }

  async #converse(
    request: SearchRequest,
    functions: Offer['functions'],
    caller: SearchObserver,
    signal: AbortSignal,
  ): Promise<SearchOutcome> {
    const observer = countUse(caller);
    const { policy, turns } = this.#options;
    const { maxRounds, maxCalls } = policy;
    const calls = new GroundedCalls({
      ...this.#options,
      ...policy,
      functions,
      observer,
      isLocal: request.isLocal === true,
      // Later if another caller joins the search.
      get deadlineMs() {
        return request.deadlineMs;
      },
      // Others after a reload.
      get publicServers() {
        return policy.publicServers;
      },
    });
    let rounds: readonly Round[] = [];
    const replies: SearchReply[] = [];
    const publicPages: string[] = [];
    for (let round = 0; ; round += 1) {
      const isLast = round >= maxRounds - 1;
      const mayCall = functions.length > 0 && !isLast && !calls.isExhausted && calls.hasTime;
      const web = webAccess(policy.web, calls.hasPrivateOutput);
      if (round > 0) observer.onProgress({ kind: 'asking', round: round + 1 });
      const outcome = await turns.turn({ ...request, functions, mayCall, web, rounds, round }, observer, signal);
      if (outcome.isErr()) return err(outcome.error);
      observer.onUsed({ rounds: 1 });
      const turn = outcome.value;
      replies.push(turn.reply);
      // Later, the model may write what a private tool returned into an address.
      if (web === 'open' && !calls.hasPrivateOutput)
        publicPages.push(
          ...turn.reply.sources.cited.map(({ url }) => url),
          ...turn.reply.sources.consulted,
          ...turn.reply.sources.opened,
        );
      if (turn.calls.length === 0 || !mayCall) {
        const { text, ending } = turn.reply;
        // A message before a call is not the answer.
        const isCutOff = turn.calls.length > 0 || (text.trim() === '' && ending.kind === 'complete');
        if (functions.length === 0 || mayCall || !isCutOff) {
          const reply = this.#combine(turn, replies, calls, publicPages, request.isLocal === true);
          return ok({ ...reply, report: { ...reply.report, ...observer.total() } });
        }
        const limit = isLast ? 'rounds' : calls.isExhausted ? 'calls' : 'time';
        return err({ kind: 'no_final_answer', limit, max: limit === 'rounds' ? maxRounds : maxCalls });
      }
      const outputs = await calls.run(turn.calls, signal);
      if (outputs === 'aborted') return err({ kind: 'aborted' });
      rounds = [...rounds, { items: turn.items, outputs }];
    }
  }

  /** The text of the last round, and the sources and costs of all (rulings L23 to L25). */
  #combine(
    { reply }: Turn,
    replies: readonly SearchReply[],
    calls: GroundedCalls,
    publicPages: readonly string[],
    isLocal: boolean,
  ): SearchReply {
    const sources = isLocal ? calls.sources : calls.sources.map(withoutLocalPath);
    const resolved = resolveMarkers(reply.text, sources);
    const text = isLocal ? resolved.text : withoutFileUris(resolved.text, calls.sources);
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
      own: { marked: resolved.marked, answered: sources, publicPages },
      report: {
        ...reply.report,
        queries: all(({ report }) => report.queries),
        attempts: replies.reduce((sum, { report }) => sum + report.attempts, 0),
      },
    };
  }

  #warn(tooLarge: readonly string[], unknown: readonly string[]): void {
    const once = (key: string, line: string) => {
      if (this.#warned.has(key)) return;
      this.#warned.add(key);
      this.#options.logger.warn(line);
    };
    for (const name of tooLarge) once(name, `grounding: the schema of ${name} is too large; the tool is not offered`);
    for (const name of unknown) once(name, `grounding: there is no tool ${name} (grounding.tools)`);
  }
}

/** What a server says about a tool can contain its secrets. */
function withoutSecrets({ known }: Redactor): (tool: GatewayTool) => GatewayTool {
  return ({ server, name, ...described }) => ({ ...redactedValue(described, known), server, name });
}

function webAccess(web: GroundingPolicy['web'], hasPrivateOutput: boolean): WebAccess {
  if (web === 'never') return 'absent';
  return web === 'before' && hasPrivateOutput ? 'closed' : 'open';
}
