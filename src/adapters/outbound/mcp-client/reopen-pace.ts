import { restartBackoff } from '../../../application/gateway/restart-backoff.ts';
import type { Clock } from '../../../application/ports/clock.ts';

const MAX_DELAY_MS = 60_000;

/**
 * When an event stream that ended is opened again: a function that returns the time until then, 1 s to 60 s, and what the server asked for if
 * that lies between. It grows while streams end soon, so that no server sets the pace. The first stream is opened now.
 */
export function reopenPace(clock: Clock): (askedMs?: number) => number {
  const delayAfter = restartBackoff(Number.POSITIVE_INFINITY);
  let openedMs = clock.elapsedMs();
  return (askedMs = 0) => {
    const nowMs = clock.elapsedMs();
    const ownMs = delayAfter(nowMs - openedMs) ?? MAX_DELAY_MS;
    const delayMs = Math.max(ownMs, Math.min(askedMs, MAX_DELAY_MS));
    openedMs = nowMs + delayMs;
    return delayMs;
  };
}
