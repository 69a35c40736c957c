import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../src/application/async/deadline.ts';
import type { Look, LookError, StartedResponses } from '../../src/application/ports/started-responses.ts';
import { searchReply } from './fake-llm-search.ts';

const CREATED = { createdAt: new Date('2026-01-05T02:00:00Z') };

/** Looks, for `FakeStartedResponses.set`. */
export const looks = {
  working: (searches = 0): Look => ({ ...CREATED, state: 'working', searches }),
  completed: (text: string): Look => ({ ...CREATED, state: 'completed', reply: searchReply({ text, searched: true }) }),
  cancelled: (): Look => ({ ...CREATED, state: 'cancelled' }),
  failed: (detail: string): Look => ({ ...CREATED, state: 'failed', error: { kind: 'failed', detail } }),
};

export const notLooked = (isPassing: boolean): LookError => ({
  kind: 'not_looked',
  error: { kind: isPassing ? 'server_error' : 'forbidden', attempts: 1, detail: 'No.' },
  isPassing,
});

/** Shows what the test sets, per ID; an ID without is unknown. Records the IDs of looks and cancellations. */
export class FakeStartedResponses implements StartedResponses {
  readonly looks: string[] = [];
  readonly cancels: string[] = [];
  readonly #shown = new Map<string, Look | LookError | 'hangs'>();

  set(id: string, shown: Look | LookError | 'hangs'): void {
    this.#shown.set(id, shown);
  }

  async look(id: string, _asked: unknown, signal: AbortSignal): Promise<Result<Look, LookError>> {
    if (!signal.aborted) this.looks.push(id);
    const shown = this.#shown.get(id) ?? { kind: 'unknown_response' };
    const peer = shown === 'hangs' ? new Promise<never>(() => {}) : Promise.resolve(shown);
    const looked = await untilAborted(peer, signal);
    if (looked === 'aborted') return err({ kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false });
    return 'state' in looked ? ok(looked) : err(looked);
  }

  async cancel(id: string): Promise<void> {
    this.cancels.push(id);
    const shown = this.#shown.get(id);
    if (typeof shown === 'object' && 'state' in shown && shown.state === 'working')
      this.#shown.set(id, { createdAt: shown.createdAt, state: 'cancelled' });
  }
}
