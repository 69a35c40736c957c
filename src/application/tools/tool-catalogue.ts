import { err } from 'neverthrow';
import { EVERYTHING, mayUseName, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { unknownServer } from '../../domain/gateway/tool-call-error.ts';
import { withDeadline } from '../async/deadline.ts';
import type { SearchUse } from '../ports/llm-search.ts';
import type { Services } from '../ports/services.ts';
import type { Audit } from './audit.ts';
import { type AuditedElicitation, CallElicitations } from './call-elicitations.ts';
import {
  type CallEvent,
  type CallReport,
  isDenied,
  isMade,
  type ObservedCall,
  outcomeOf,
  type ToolCall,
  type ToolOutcome,
  type ToolProvider,
} from './tool-call.ts';
import { totalUse } from './total-use.ts';

export interface CatalogueOptions extends Pick<Services, 'clock'> {
  /** The providers that exist now. */
  readonly providers: () => readonly ToolProvider[];
  readonly audit?: Audit | undefined;
  /** The names of all configured servers, if some of them have no provider. */
  readonly configured?: readonly string[] | undefined;
  /** Gets the events of all calls, also of those of the model. */
  readonly on?: ((event: CallEvent) => void) | undefined;
}

/** Every tool of the program, for every entry point: MCP, REST, the terminal, and the model in a grounded answer. */
export class ToolCatalogue {
  readonly #options: CatalogueOptions;

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  /** The tools that exist for a caller now. */
  toolsFor(rights: Rights): readonly GatewayTool[] {
    return this.#options
      .providers()
      .flatMap((provider) => provider.toolsFor(rights))
      .filter(rights.mayUse);
  }

  /** Whether a tool with this name exists now, for any caller. */
  has(server: string, tool: string): boolean {
    const owners = this.#options.providers().filter(({ serverNames }) => serverNames.includes(server));
    return owners
      .flatMap((owner) => owner.toolsFor(EVERYTHING))
      .some((one) => one.server === server && one.name === tool);
  }

  /** Reports and audits the call. Ends with `cancelled` soon after `signal` aborts, and rejects only because of a bug. */
  async call(call: ToolCall, signal: AbortSignal): Promise<ToolOutcome> {
    const { clock, audit, on: onAny } = this.#options;
    const startedMs = clock.elapsedMs();
    const uses: SearchUse[] = [];
    const questions: AuditedElicitation[] = [];
    const onEnded = (ended: AuditedElicitation) => questions.push(ended);
    const elicitations = new CallElicitations({ asker: call.asker, clock, onEnded });
    let found: GatewayTool | undefined;
    const on = (event: CallEvent) => {
      if (event.kind === 'found') found = event.tool;
      if (event.kind === 'used') uses.push(event.use);
      onAny?.(event);
      call.on?.(event);
    };
    const end = (outcome?: ToolOutcome) => {
      const seconds = (clock.elapsedMs() - startedMs) / 1000;
      on({ kind: 'ended', report: { ...this.#reportOf(call, found, outcome), seconds, ...usedIn(uses) } });
    };
    on({ kind: 'begun', server: call.server });
    try {
      const outcome = await (audit === undefined
        ? this.#callAllowed({ ...call, on, elicitations }, signal)
        : audit.record(
            call,
            (line) => this.#callAllowed({ ...call, on, line, elicitations }, signal),
            (outcome) => ({ ...toEnding(outcome), questions, microUsd: totalUse(uses).microUsd }),
          ));
      end(outcome);
      return outcome;
    } catch (bug) {
      end();
      throw bug;
    }
  }

  #reportOf(call: ToolCall, found: GatewayTool | undefined, outcome: ToolOutcome | undefined) {
    const { server } = call;
    // The name of an unknown server or tool is a text of the caller.
    const listed = () => this.toolsFor(call.by.rights).find((one) => one.server === server && one.name === call.tool);
    const isUnknown = outcome?.isErr() === true && outcome.error.kind === 'unknown_server';
    return {
      server: isUnknown ? '' : server,
      tool: (found ?? listed())?.name ?? '',
      outcome: outcome === undefined ? ('internal_error' as const) : outcomeOf(outcome),
      ...(outcome !== undefined && isDenied(outcome) && { isDenied: true as const }),
    };
  }

  /** Passes a call on to its provider if the caller may use the tool. Any other tool does not exist for this caller. */
  async #callAllowed(call: Omit<ObservedCall, 'pause'>, signal: AbortSignal): Promise<ToolOutcome> {
    const { providers, clock, configured = [] } = this.#options;
    const { server } = call;
    const { rights } = call.by;
    const owners = providers().filter(({ serverNames }) => serverNames.includes(server));
    const candidates = owners.map((owner) => ({ owner, listed: toolIn(owner, call) }));
    // Several providers may have tools of one server, with different names.
    const chosen = candidates.find(({ listed }) => listed !== undefined) ?? candidates[0];
    const provider = chosen?.owner;
    const isConfigured = provider !== undefined || configured.includes(server);
    // Before anything else, so that a refused call starts no server.
    if (isConfigured && rights.sees(server) && isRefusedByName(call, chosen?.listed))
      return unknownTool(call, owners, { isDenied: true });
    if (provider === undefined || !rights.sees(server)) {
      if (server === '') return err({ kind: 'unknown_tool', server, tool: call.tool, known: [] });
      const names = [...new Set([...configured, ...providers().flatMap(({ serverNames }) => serverNames)])];
      return err(unknownServer(server, names, rights));
    }
    const limitMs = provider.limitMs(server, call.timeoutMs ?? Number.POSITIVE_INFINITY);
    const started = call.waitsForStart ? await provider.find(call, signal) : undefined;
    let isStarting = false;
    // The time limit includes the waits for a first start, which has a limit of its own, and for a free place.
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, async (untilOver, pause) => {
      const finding = started ?? provider.find(call, untilOver);
      // A known tool is called at once, because a repeated question must join its search before the next message cancels the first call.
      const { tool, problem } = finding instanceof Promise ? await finding : finding;
      isStarting = problem?.kind === 'cancelled';
      if (tool !== undefined && rights.mayUse(tool)) {
        call.on({ kind: 'found', tool });
        return problem === undefined ? provider.call({ ...call, tool: tool.name, pause }, untilOver) : err(problem);
      }
      if (tool === undefined && problem !== undefined && problem.kind !== 'unknown_tool') return err(problem);
      return unknownTool(call, owners, { ...problem, ...(tool && { isDenied: true }) });
    });
    // An answer reports this time limit as its own time-out, or as a cancellation; the error must name this limit.
    const isLate = isTimedOut && outcome.isErr() && ['cancelled', 'timed_out'].includes(outcomeOf(outcome));
    if (isLate && isStarting) return err({ kind: 'not_available', server, state: 'starting' });
    // The server may wait for the answer that it did not get.
    return isLate ? err(call.elicitations.refused ?? { kind: 'timed_out', timeoutMs: limitMs }) : outcome;
  }
}

function usedIn(uses: readonly SearchUse[]): Partial<CallReport> {
  return uses.length > 0 ? totalUse(uses) : {};
}

/** What the audit writes about the end of a call. */
function toEnding(outcome: ToolOutcome) {
  const returned = outcome.isOk() ? (outcome.value.answer?.result ?? outcome.value.raw) : undefined;
  const name = outcomeOf(outcome);
  return { outcome: isDenied(outcome) ? 'denied' : name, result: returned, isMade: isMade(name) };
}

function toolIn(provider: ToolProvider, { server, tool, by }: ToolCall): GatewayTool | undefined {
  return provider.toolsFor(by.rights).find((one) => one.name === tool && one.server === server);
}

/** Whether access refuses a tool by what is known before a start: its name and, if it is listed, what it declares. */
function isRefusedByName({ server, tool, by, exposedName }: ToolCall, listed: GatewayTool | undefined): boolean {
  if (listed !== undefined) return !by.rights.mayUse(listed);
  return exposedName === undefined && !mayUseName(by.rights, server, tool);
}

/** The error for a tool that does not exist for the caller, with those that do, if they are known. */
function unknownTool(call: ToolCall, owners: readonly ToolProvider[], details: object): ToolOutcome {
  const { server, tool, by } = call;
  const tools = owners.flatMap((owner) => owner.toolsFor(by.rights)).filter((one) => one.server === server);
  const isKnown = owners.some((owner) => owner.isOffered?.(server) !== false);
  const known = isKnown ? { known: tools.filter(by.rights.mayUse).map(({ name }) => name) } : {};
  return err({ kind: 'unknown_tool', server, tool, ...details, ...known });
}
