import { err } from 'neverthrow';
import { withDeadline } from '../async/deadline.ts';
import type { CatalogueOptions } from './catalogue-options.ts';
import { type CallTool, outcomeOf, type ToolOutcome } from './tool-call.ts';

/** Passes calls on to their providers if the caller may use the tool. Any other tool does not exist for this caller. */
export function withAccess({ providers, clock, configured = [] }: CatalogueOptions): CallTool {
  return async (call, signal) => {
    const { server } = call;
    const { rights } = call.by;
    const owners = providers().filter(({ serverNames }) => serverNames.includes(server));
    // Several providers may have tools of one server, with different names.
    const provider = owners.find((owner) => owner.toolsFor(rights).some(({ name }) => name === call.tool)) ?? owners[0];
    if (provider === undefined || !rights.sees(server)) {
      if (server === '') return err({ kind: 'unknown_tool', server, tool: call.tool, known: [] });
      const names = [...new Set([...configured, ...providers().flatMap(({ serverNames }) => serverNames)])];
      const isHidden = !rights.sees(server) && names.includes(server);
      const known = names.filter(rights.sees);
      return err({ kind: 'unknown_server', server, known, ...(isHidden && { isDenied: true }) });
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
      const name = call.nameWhenStarted?.() ?? call.tool;
      const tools = owners.flatMap((owner) => owner.toolsFor(rights));
      const known = tools.filter((one) => one.server === server && rights.mayUse(one)).map((one) => one.name);
      return err({ kind: 'unknown_tool', server, tool: name, ...problem, known, ...(tool && { isDenied: true }) });
    };
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, task);
    // An answer reports this time limit as its own time-out, or as a cancellation; the error must name this limit.
    const isLate = isTimedOut && outcome.isErr() && ['cancelled', 'timed_out'].includes(outcomeOf(outcome));
    return isLate ? err({ kind: 'timed_out', timeoutMs: limitMs }) : outcome;
  };
}
