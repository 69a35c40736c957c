import { ok } from 'neverthrow';
import type { Clock } from '../../src/application/ports/services.ts';
import type { ToolProvider } from '../../src/application/tools/tool-call.ts';
import { BUILT_IN_SERVER } from '../../src/domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';

/** Would be in a `*-schemas.ts` file of `src/adapters/inbound/mcp`. */
export const TODAY: GatewayTool = {
  server: BUILT_IN_SERVER,
  name: 'today',
  description: 'The day in UTC.',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

interface TodayOptions {
  readonly tool: GatewayTool;
  readonly clock: Clock;
}

/** Says which day it is. Would be in a folder of `src/application`. */
export function todayProvider({ tool, clock }: TodayOptions): ToolProvider {
  return {
    serverNames: [BUILT_IN_SERVER],
    toolsFor: () => [tool],
    limitMs: (_server, wantedMs) => wantedMs,
    find: (call) => ({ tool: call.tool === tool.name ? tool : undefined }),
    call: async () => {
      const raw = { content: [{ type: 'text', text: clock.now().toISOString().slice(0, 10) }] };
      return ok({ ...raw, raw, isError: false });
    },
  };
}
