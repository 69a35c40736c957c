import type { Client } from '@modelcontextprotocol/client';
import { GrowingWait } from '../../../application/async/growing-wait.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ServerEvents } from '../../../application/ports/tool-server.ts';

/** The first wait before a new subscription. Later ones grow, because a server may end every stream at once. */
const REOPEN_MS = 3000;

/**
 * Subscribes to changes again whenever the stream of the client's own subscription (MCP 2026-07-28) ends, because proxies cut idle
 * streams. All lists are then reported as changed, because a change may have been missed. Ends when `signal` aborts. Never rejects.
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
  const wait = new GrowingWait(clock, REOPEN_MS, 0);
  while (subscription !== undefined) {
    if ((await subscription.closed) === 'local') return;
    if ((await clock.sleep(wait.next(), signal)) === 'aborted') return;
    // If this fails, the earlier subscription is still closed, so that the next attempt follows.
    const again = await client.listen(filter).catch(() => undefined);
    if (again === undefined) continue;
    subscription = again;
    events.onToolsChanged();
    for (const list of ['resources', 'prompts'] as const) events.onListChanged?.(list);
  }
}
