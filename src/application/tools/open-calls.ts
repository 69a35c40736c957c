import type { ElicitationAnswer } from '../../domain/gateway/elicitation.ts';
import { BoundedMap } from '../../domain/values/bounded-map.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import type { Clock } from '../ports/services.ts';
import { type CallIdentity, OpenCall } from './open-call.ts';

interface OpenCallsOptions {
  readonly clock: Clock;
  /** Returns a random text that cannot be guessed. */
  readonly newState: () => string;
  /** Returns a short text for a long one. */
  readonly digest: (text: string) => string;
}

/** What is known of the call that a request continues. */
interface Continued {
  /** Undefined if its server keeps the state. */
  readonly open: OpenCall | undefined;
  readonly answered: readonly ElicitationAnswer['action'][];
}

interface Passed {
  readonly identity: CallIdentity;
  readonly answered: Continued['answered'];
}

/** The result of a call that ended while its caller was away is kept for this time. */
const KEEP_MS = 600_000;
/** The number of passed states that are remembered: a retry with a forgotten one counts as another call. */
const MAX_PASSED = 10_000;

/**
 * The calls of clients of MCP 2026-07-28 whose server waits for an answer, while the client is away: it gets the question as a result with a state, and
 * answers with a further request. Each state is for one question and one use. Calls end with their process.
 */
export class OpenCalls {
  readonly #options: OpenCallsOptions;
  readonly #byState = new Map<string, OpenCall>();
  /** The states of servers that were passed on to clients, by their digests. */
  readonly #passed = new BoundedMap<string, Passed>(MAX_PASSED);
  readonly #calls = new Set<OpenCall>();
  #isClosed = false;

  constructor(options: OpenCallsOptions) {
    this.#options = options;
  }

  /** The number of questions that wait for an answer, by server: those of one caller, or of all. */
  questions(caller?: string): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const call of this.#calls) {
      if (caller !== undefined && call.identity.caller !== caller) continue;
      for (const server of call.servers) counts.set(server, (counts.get(server) ?? 0) + 1);
    }
    return counts;
  }

  /** Begins a call, which `OpenCall.step` follows. */
  begin(asked: CallIdentity, declared: JsonObject, run: OpenCall['run']): OpenCall {
    const { clock, newState } = this.#options;
    const identity = this.#kept(asked);
    const call: OpenCall = new OpenCall({
      identity,
      declared,
      run,
      isClosed: () => this.#isClosed,
      openOf: (server) => {
        const counts = this.questions(identity.caller);
        return server === undefined ? sumOf(counts) : (counts.get(server) ?? 0);
      },
      open: () => {
        const state = newState();
        this.#byState.set(state, call);
        return state;
      },
      forget: (state) => this.#byState.delete(state),
      onEnded: (states) => {
        this.#calls.delete(call);
        if (states.length === 0) return;
        clock.after(KEEP_MS, () => {
          for (const state of states) this.#byState.delete(state);
        });
      },
    });
    this.#calls.add(call);
    return call;
  }

  /** Whether a retry with this state continues a call, rather than being another one. */
  continues(state: string, asked: CallIdentity): boolean {
    const { identity: known } = this.#byState.get(state) ?? this.#passed.get(this.#options.digest(state)) ?? {};
    return known !== undefined && known.caller === asked.caller && known.request === this.#kept(asked).request;
  }

  /** The call that a state continues, or `other` if it continues another one. A state can be taken once. */
  take(state: string, identity: CallIdentity): Continued | 'other' {
    const isSame = this.continues(state, identity);
    const open = this.#byState.get(state);
    if (open !== undefined && !isSame) return 'other';
    this.#byState.delete(state);
    const digest = this.#options.digest(state);
    const { answered = [] } = (isSame ? this.#passed.get(digest) : undefined) ?? {};
    if (isSame) this.#passed.delete(digest);
    return { open, answered };
  }

  /** Remembers a state of a server that was passed on to its caller, and what the caller has answered so far. */
  onPassed(state: string, identity: CallIdentity, answered: Continued['answered']): void {
    this.#passed.set(this.#options.digest(state), { identity: this.#kept(identity), answered });
  }

  /** Ends all questions, because nobody can answer any more. Later ones end at once. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#calls) call.close();
  }

  /** What is kept of a call that may have large arguments. */
  #kept({ caller, request }: CallIdentity): CallIdentity {
    return { caller, request: this.#options.digest(request) };
  }
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
