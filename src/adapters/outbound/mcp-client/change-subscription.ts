import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 60_000;

/**
 * Subscribes to changes again whenever the stream of the client's own subscription (MCP 2026-07-28) ends, because proxies cut idle
 * streams. What changed in between is reported as a change. Ends with the client. Never rejects.
 */
export async function keepSubscribed(client: Client, onChanged: () => void): Promise<void> {
  let subscription = client.autoOpenedSubscription;
  let delayMs = FIRST_DELAY_MS;
  while (subscription !== undefined) {
    if ((await subscription.closed) === 'local') return;
    await sleep(delayMs, undefined, { ref: false });
    if (client.transport === undefined) return;
    delayMs = Math.min(MAX_DELAY_MS, delayMs * 2);
    // A subscription that failed is over at once.
    const again = await client.listen({ toolsListChanged: true }).catch(() => undefined);
    if (again === undefined) continue;
    subscription = again;
    delayMs = FIRST_DELAY_MS;
    onChanged();
  }
}
