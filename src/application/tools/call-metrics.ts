import type { Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { SearchUse } from '../ports/llm-search.ts';
import type { CatalogueOptions } from './catalogue-options.ts';
import { type CallReport, type CallTool, isDenied, outcomeOf, type ToolOutcome } from './tool-call.ts';
import { totalUse } from './total-use.ts';

interface MetricsOptions extends Pick<CatalogueOptions, 'clock' | 'onCallEnded'> {
  readonly toolsFor: (rights: Rights) => readonly GatewayTool[];
}

/** Reports every call to its own observer, and to the observer of all calls. */
export function withMetrics({ clock, onCallEnded, toolsFor }: MetricsOptions, next: CallTool): CallTool {
  return async (call, signal) => {
    const { server, observer } = call;
    const startedMs = clock.elapsedMs();
    const uses: SearchUse[] = [];
    let isWaiting = false;
    const setWaiting = (isNowWaiting: boolean) => {
      if (isNowWaiting !== isWaiting) observer?.onWaiting?.(isNowWaiting);
      isWaiting = isNowWaiting;
    };
    let found: GatewayTool | undefined;
    const report = (outcome?: ToolOutcome) => {
      setWaiting(false);
      // The name of an unknown server or tool is a text of the caller.
      const tool = found ?? toolsFor(call.by.rights).find((one) => one.server === server && one.name === call.tool);
      const isUnknown = outcome?.isErr() === true && outcome.error.kind === 'unknown_server';
      const ended: CallReport = {
        server: isUnknown ? '' : server,
        tool: tool?.name ?? '',
        outcome: outcome === undefined ? 'internal_error' : outcomeOf(outcome),
        seconds: (clock.elapsedMs() - startedMs) / 1000,
        ...(outcome !== undefined && isDenied(outcome) && { isDenied: true }),
        ...(uses.length > 0 && totalUse(uses)),
      };
      onCallEnded?.(ended);
      observer?.onEnded(ended);
    };
    observer?.onStarted?.(server);
    try {
      const outcome = await next(
        {
          ...call,
          onFound: (tool) => {
            found = tool;
          },
          onUsed: (use) => uses.push(use),
          onSearchProgress: (progress) => {
            setWaiting(progress.kind === 'waiting');
            call.onSearchProgress?.(progress);
          },
        },
        signal,
      );
      report(outcome);
      return outcome;
    } catch (bug) {
      report();
      throw bug;
    }
  };
}
