import { ok } from 'neverthrow';
import type { Clock } from '../../src/application/ports/clock.ts';
import type { ToolProvider } from '../../src/application/tools/tool-provider.ts';
import { textResult } from './fake-tool-server.ts';

const TODAY = { server: 'calendar', name: 'today', description: 'The day in UTC.', inputSchema: { type: 'object' } };

/** One tool of a kind of its own. */
export function todayProvider(clock: Clock): ToolProvider {
  return {
    serverNames: ['calendar'],
    toolsFor: () => [TODAY],
    limitMs: (_server, wantedMs) => Math.min(wantedMs, 1000),
    find: ({ tool }) => (tool === TODAY.name ? { tool: TODAY } : {}),
    call: async () => ok(textResult(clock.now().toISOString().slice(0, 10))),
  };
}
