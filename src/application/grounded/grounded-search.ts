import { err, ok } from 'neverthrow';
import { type CallOrigin, isLocal } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import {
  type GroundingPolicy,
  MAX_FUNCTIONS,
  type OfferedFunction,
  toOffer,
  unknownTools,
} from '../../domain/grounded/grounding.ts';
import { resolveMarkers, withoutFileUris, withoutLocalPath } from '../../domain/grounded/own-source.ts';
import { type Redactor, redactedValue } from '../../domain/values/redaction.ts';
import { untilAborted } from '../async/deadline.ts';
import type {
  LlmSearch,
  Round,
  SearchObserver,
  SearchOutcome,
  SearchReply,
  SearchRequest,
  WebAccess,
} from '../ports/llm-search.ts';
import type { Services } from '../ports/services.ts';
import { countUse } from '../tools/total-use.ts';
import { type AnswerGateway, GroundedCalls, RESERVED_MS } from './grounded-calls.ts';

export interface GroundedSearchOptions extends Services {
  readonly policy: GroundingPolicy;
  readonly llmSearch: LlmSearch;
  /** Starts the servers when it is first called. */
  readonly startGateway: () => Promise<AnswerGateway>;
  readonly messageFor: (error: ToolCallError) => string;
}

/** How long an answer waits for the first start of servers whose lists are not known. */
const START_MS = 10_000;

/** Answers with the web and own tools, in rounds. After a private output, no live search is permitted, unless `web` is `always`. */
export class GroundedSearch implements LlmSearch {
  readonly #options: GroundedSearchOptions;
  readonly #warned = new Set<string>();
  /** The tools of the servers that were available for the latest answer. */
  #known: readonly GatewayTool[] = [];

  constructor(options: GroundedSearchOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const { policy, llmSearch } = this.#options;
    if (!this.mayUseTools(request)) return llmSearch.search(request, observer, signal);
    const offered = await untilAborted(this.#offer(request, signal), signal);
    if (offered === 'aborted') return err({ kind: 'aborted' });
    const { functions } = offered;
    // With `never`, the web stays closed even if no tool can be offered.
    const isPlain = functions.length === 0 && policy.web !== 'never';
    const outcome = isPlain
      ? await llmSearch.search(request, observer, signal)
      : await this.#converse(request, offered, observer, signal);
    await offered.answerGateway?.gateway.as(request.by).whenLooked(signal);
    const missing = this.#missing(offered, request.by);
    return outcome.map((reply) => ({ ...reply, report: { ...reply.report, ...missing } }));
  }

  /** The servers that an answer could not use. Logins are checked after the answer, because they can end during it. */
  #missing({ unavailable, answerGateway }: Offered, by: CallOrigin) {
    const servers = answerGateway?.gateway.as(by).servers ?? [];
    const requireLogin = servers.filter(({ state }) => state === 'login_required').map(({ name }) => name);
    const names = Object.keys(this.#options.policy.tools);
    const loginRequired = names.filter((name) => requireLogin.includes(name));
    const unavailableServers = names.filter((name) => unavailable.includes(name) || loginRequired.includes(name));
    return {
      ...(unavailableServers.length > 0 && { unavailableServers }),
      ...(loginRequired.length > 0 && { loginRequired }),
    };
  }

  /** The functions to offer. Without time for a call there are none, and no server is started. */
  async #offer(request: SearchRequest, signal: AbortSignal): Promise<Offered> {
    const { policy, startGateway, clock, redactor } = this.#options;
    const leftMs = () => request.deadlineMs - clock.elapsedMs() - RESERVED_MS;
    const maxMs = Math.min(START_MS, leftMs());
    const rights = request.by.rights;
    const names = Object.keys(policy.tools).filter(rights.sees);
    if (maxMs < 0 || names.length === 0) return { functions: [], unavailable: [] };
    const answerGateway = await startGateway();
    const { gateway } = answerGateway;
    const visible = gateway.as(request.by);
    await visible.whenListed(maxMs, signal, names);
    const unavailable = names.filter((name) => !visible.isOffered(name));
    this.#known = gateway.tools.filter(({ server }) => Object.hasOwn(policy.tools, server));
    const { functions, tooLarge } = toOffer(this.#known.filter(rights.mayUse).map(withoutSecrets(redactor)), policy);
    const unseen = Object.keys(policy.tools).filter((name) => !names.includes(name));
    this.#warn(
      functions.slice(MAX_FUNCTIONS),
      tooLarge,
      unknownTools(policy, this.#known, [...unavailable, ...unseen]),
    );
    const fitting = functions.slice(0, MAX_FUNCTIONS);
    return { functions: leftMs() < 0 ? [] : fitting, unavailable, answerGateway };
  }

  /** Whether own tools are offered to the caller: over HTTP, only to callers that the configuration names. */
  mayUseTools({ by }: Pick<SearchRequest, 'by'>): boolean {
    const { callers, tools, web } = this.#options.policy;
    const isCaller = isLocal(by) || callers.includes(by.caller);
    return isCaller && (web === 'never' || Object.keys(tools).some(by.rights.sees));
  }

  async #converse(
    request: SearchRequest,
    { functions, answerGateway }: Offered,
    caller: SearchObserver,
    signal: AbortSignal,
  ): Promise<SearchOutcome> {
    const observer = countUse(caller);
    const { policy, llmSearch } = this.#options;
    const { maxRounds, maxCalls } = policy;
    const calls = new GroundedCalls({ ...this.#options, ...policy, functions, answerGateway, observer, request });
    const rounds: Round[] = [];
    const replies: SearchReply[] = [];
    for (;;) {
      const limit = rounds.length >= maxRounds - 1 ? 'rounds' : calls.limit;
      const mayCall = functions.length > 0 && limit === undefined;
      const web = webAccess(policy.web, calls.hasPrivateOutput);
      if (rounds.length > 0) observer.onProgress({ kind: 'asking', round: rounds.length + 1 });
      const mode = { functions, mayCall, web, rounds: [...rounds] };
      const outcome = await llmSearch.search({ ...request, mode }, observer, signal);
      if (outcome.isErr()) return err(outcome.error);
      const reply = outcome.value;
      observer.onUsed({ rounds: 1 });
      replies.push(reply);
      if (mayCall && reply.calls.length > 0) {
        const outputs = await calls.run(reply.calls, signal);
        if (outputs === 'aborted') return err({ kind: 'aborted' });
        rounds.push({ items: reply.items, outputs });
        continue;
      }
      if (functions.length > 0 && limit !== undefined && !isFinal(reply))
        return err({ kind: 'no_final_answer', limit, max: limit === 'rounds' ? maxRounds : maxCalls });
      const combined = combine(reply, replies, calls, isLocal(request.by));
      return ok({ ...combined, report: { ...combined.report, ...observer.total() } });
    }
  }

  #warn(excess: readonly OfferedFunction[], tooLarge: readonly string[], unknown: readonly string[]): void {
    const names = excess.map(({ name }) => name).join(', ');
    const tooMany = `the API accepts ${MAX_FUNCTIONS} tools of servers; not offered: ${names}. Remove some from grounding.tools.`;
    const lines = [
      ...(names === '' ? [] : [tooMany]),
      ...tooLarge.map((name) => `the schema of ${name} is too large; the tool is not offered`),
      ...unknown.map((name) => `there is no tool ${name} (grounding.tools)`),
    ];
    for (const line of lines.filter((line) => !this.#warned.has(line))) {
      this.#warned.add(line);
      this.#options.logger.warn(`grounding: ${line}`);
    }
  }
}

/** The functions for an answer, and the gateway that runs them unless there are none. */
interface Offered {
  readonly functions: readonly OfferedFunction[];
  readonly unavailable: readonly string[];
  readonly answerGateway?: AnswerGateway;
}

/** Whether the model has answered. A message before a call is no answer. */
function isFinal({ calls, text, ending }: SearchReply): boolean {
  return calls.length === 0 && (text.trim() !== '' || ending.kind !== 'complete');
}

/** The text of the last round, with the sources and costs of all rounds. */
function combine(
  last: SearchReply,
  replies: readonly SearchReply[],
  calls: GroundedCalls,
  isLocal: boolean,
): SearchReply {
  const sources = isLocal ? calls.sources : calls.sources.map(withoutLocalPath);
  const resolved = resolveMarkers(last.text, sources);
  const text = isLocal ? resolved.text : withoutFileUris(resolved.text, calls.sources);
  const all = <T>(of: (reply: SearchReply) => readonly T[]) => replies.flatMap(of);
  return {
    ...last,
    // The conversation has ended, and its items may contain texts that only the model may see.
    items: [],
    text,
    searched: replies.some(({ searched }) => searched),
    sources: {
      cited: all(({ sources }) => sources.cited),
      consulted: all(({ sources }) => sources.consulted),
      opened: all(({ sources }) => sources.opened),
    },
    own: { marked: resolved.marked, answered: sources, hasPrivateOutput: calls.hasPrivateOutput },
    report: {
      ...last.report,
      queries: all(({ report }) => report.queries),
      attempts: replies.reduce((sum, { report }) => sum + report.attempts, 0),
    },
  };
}

/** Masks the description of a tool, which can contain secrets of its server. */
function withoutSecrets({ known }: Redactor): (tool: GatewayTool) => GatewayTool {
  return ({ server, name, ...described }) => ({ ...redactedValue(described, known), server, name });
}

function webAccess(web: GroundingPolicy['web'], hasPrivateOutput: boolean): WebAccess {
  if (web === 'never') return 'absent';
  return web === 'before' && hasPrivateOutput ? 'closed' : 'open';
}
