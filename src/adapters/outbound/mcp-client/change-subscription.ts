import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';

/** Servers may end a stream at once, again and again. */
const REOPEN_MS = 3000;

/**
 * Subscribes to changes again whenever the stream of the client's own subscription (MCP 2026-07-28) ends, because proxies cut idle
 * streams. What changed in between is reported as a change. Ends when `signal` aborts. Never rejects.
 */
export async function keepSubscribed(
  client: Pick<Client, 'autoOpenedSubscription' | 'listen'>,
  events: Pick<ServerEvents, 'onToolsChanged' | 'onListChanged'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let subscription = client.autoOpenedSubscription;
  const more = events.onListChanged && { promptsListChanged: true, resourcesListChanged: true };
  const filter = { toolsListChanged: true, ...more };
  while (subscription !== undefined) {
    if ((await subscription.closed) === 'local') return;
    if ((await clock.sleep(REOPEN_MS, signal)) === 'aborted') return;
    // A subscription that failed is over at once.
    const again = await client.listen(filter).catch(() => undefined);
    if (again === undefined) continue;
    subscription = again;
    events.onToolsChanged();
    for (const list of ['resources', 'prompts'] as const) events.onListChanged?.(list);
  }
}
