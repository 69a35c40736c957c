import { err, type Result } from 'neverthrow';
import { never, untilAborted } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Look, LookError, StartedResponses } from '../ports/started-responses.ts';

const LOOK_MS = 2000;
const MAX_LOOKS = 100;

/** Looks at a response at most once in two seconds, however many ask (ruling K13). */
export class PacedLooks implements StartedResponses {
  readonly #responses: StartedResponses;
  readonly #clock: Clock;
  readonly #latest = new Map<string, { readonly atMs: number; readonly look: Promise<Result<Look, LookError>> }>();

  constructor(responses: StartedResponses, clock: Clock) {
    this.#responses = responses;
    this.#clock = clock;
  }

  async look(...[id, asked, signal]: Parameters<StartedResponses['look']>): Promise<Result<Look, LookError>> {
    const nowMs = this.#clock.elapsedMs();
    let latest = this.#latest.get(id);
    if (latest === undefined || nowMs - latest.atMs >= LOOK_MS) {
      if (this.#latest.size >= MAX_LOOKS) this.#latest.clear();
      // Others may wait for it when this caller leaves.
      latest = { atMs: nowMs, look: this.#responses.look(id, asked, never()) };
      this.#latest.set(id, latest);
    }
    const look = await untilAborted(latest.look, signal);
    return look === 'aborted' ? err({ kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false }) : look;
  }

  cancel(id: string): Promise<void> {
    this.#latest.delete(id);
    return this.#responses.cancel(id);
  }
}
