import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../../application/ports/clock.ts';
import { ReopenPace } from './reopen-pace.ts';

/**
 * Subscribes to changes again whenever the stream of the client's own subscription (MCP 2026-07-28) ends, because proxies cut idle
 * streams. What changed in between is reported as a change. Ends when `signal` aborts. Never rejects.
 */
export async function keepSubscribed(
  client: Pick<Client, 'autoOpenedSubscription' | 'listen'>,
  onChanged: () => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let subscription = client.autoOpenedSubscription;
  const pace = new ReopenPace(clock);
  while (subscription !== undefined) {
    if ((await subscription.closed) === 'local') return;
    if ((await clock.sleep(pace.delayMs(), signal)) === 'aborted') return;
    // A subscription that failed is over at once.
    const again = await client.listen({ toolsListChanged: true }).catch(() => undefined);
    if (again === undefined) continue;
    subscription = again;
    onChanged();
  }
}
