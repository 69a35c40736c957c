import { err, type Result } from 'neverthrow';
import { never, untilAborted } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Look, LookError, StartedResponses } from '../ports/started-responses.ts';

const LOOK_MS = 2000;

/** Looks at a response at most once in two seconds, however many ask (ruling K13). */
export class PacedLooks implements StartedResponses {
  readonly #responses: StartedResponses;
  readonly #clock: Clock;
  /** Those of the last two seconds. */
  readonly #latest = new Map<string, Promise<Result<Look, LookError>>>();

  constructor(responses: StartedResponses, clock: Clock) {
    this.#responses = responses;
    this.#clock = clock;
  }

  async look(...[id, asked, signal]: Parameters<StartedResponses['look']>): Promise<Result<Look, LookError>> {
    // Others may wait for it when this caller leaves.
    const latest = this.#latest.get(id) ?? this.#responses.look(id, asked, never());
    if (!this.#latest.has(id)) {
      this.#latest.set(id, latest);
      this.#clock.after(LOOK_MS, () => this.#latest.get(id) === latest && this.#latest.delete(id));
    }
    const look = await untilAborted(latest, signal);
    return look === 'aborted' ? err({ kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false }) : look;
  }

  cancel(id: string): Promise<void> {
    this.#latest.delete(id);
    return this.#responses.cancel(id);
  }
}
