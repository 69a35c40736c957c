import { err } from 'neverthrow';
import { mayUseName } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { unknownServer } from '../../domain/gateway/tool-call-error.ts';
import { withDeadline } from '../async/deadline.ts';
import type { CatalogueOptions } from './catalogue-options.ts';
import { type CallTool, type ObservedCall, outcomeOf, type ToolOutcome } from './tool-call.ts';
import type { ToolProvider } from './tool-provider.ts';

/** Passes calls on to their providers if the caller may use the tool. Any other tool does not exist for this caller. */
export function withAccess({ providers, clock, configured = [] }: CatalogueOptions): CallTool {
  return async (call, signal) => {
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
    // The time limit includes the waits for a first start and for a free place.
    const task = async (untilOver: AbortSignal): Promise<ToolOutcome> => {
      const finding = provider.find(call, untilOver);
      // A known tool is called at once, because a repeated question must join its search before the next message cancels the first call.
      const { tool, problem } = finding instanceof Promise ? await finding : finding;
      if (tool !== undefined && rights.mayUse(tool)) {
        call.onFound?.(tool);
        return problem === undefined ? provider.call({ ...call, tool: tool.name }, untilOver) : err(problem);
      }
      if (tool === undefined && problem !== undefined && problem.kind !== 'unknown_tool') return err(problem);
      return unknownTool(call, owners, { ...problem, ...(tool && { isDenied: true }) });
    };
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, task);
    // An answer reports this time limit as its own time-out, or as a cancellation; the error must name this limit.
    const isLate = isTimedOut && outcome.isErr() && ['cancelled', 'timed_out'].includes(outcomeOf(outcome));
    return isLate ? err({ kind: 'timed_out', timeoutMs: limitMs }) : outcome;
  };
}

function toolIn(provider: ToolProvider, { server, tool, by }: ObservedCall): GatewayTool | undefined {
  return provider.toolsFor(by.rights).find((one) => one.name === tool && one.server === server);
}

/** Whether access refuses a tool by what is known before a start: its name and, if it is listed, what it declares. */
function isRefusedByName(
  { server, tool, by, nameWhenStarted }: ObservedCall,
  listed: GatewayTool | undefined,
): boolean {
  if (listed !== undefined) return !by.rights.mayUse(listed);
  return nameWhenStarted === undefined && !mayUseName(by.rights, server, tool);
}

/** The error for a tool that does not exist for the caller, with those that do, if they are known. */
function unknownTool(call: ObservedCall, owners: readonly ToolProvider[], details: object): ToolOutcome {
  const { server, by, nameWhenStarted } = call;
  const tools = owners.flatMap((owner) => owner.toolsFor(by.rights)).filter((one) => one.server === server);
  const isKnown = owners.some((owner) => owner.isOffered?.(server) !== false);
  const known = isKnown ? { known: tools.filter(by.rights.mayUse).map(({ name }) => name) } : {};
  return err({ kind: 'unknown_tool', server, tool: nameWhenStarted?.() ?? call.tool, ...details, ...known });
}
