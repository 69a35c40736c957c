import {
  type Asker,
  type Elicitation,
  type ElicitationAnswer,
  type InputRequired,
  modesOf,
  type NotAnswered,
} from '../../domain/gateway/elicitation.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { type Pause, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/services.ts';

/** A question of a call in the audit, without its text. `mode` is absent if the question only passed through. */
export interface AuditedElicitation {
  readonly server: string;
  readonly mode?: Elicitation['mode'] | undefined;
  readonly action: ElicitationAnswer['action'];
}

interface Options {
  /** Undefined if the caller cannot be asked. */
  readonly asker: Asker | undefined;
  readonly clock: Clock;
  /** Gets each question when it has ended. */
  readonly onEnded: (ended: AuditedElicitation) => void;
}

/** The limits of the call that asks. */
interface Limits {
  /** How long an answer is awaited. */
  readonly questionTimeoutMs: number;
  /** Stops the time limit of the call, because a person may think longer than a tool may run. */
  readonly pause: Pause;
  /** The number of calls that run on the server at the same time. */
  readonly maxConcurrency: number;
}

/** Maximum number of questions of one call: a server that asks without end must not keep a person busy. */
const MAX_QUESTIONS = 10;
/** Maximum number of questions of one caller that wait while the caller is away, because each keeps its call and its arguments. */
const MAX_OPEN = 16;
const CANCEL: ElicitationAnswer = { action: 'cancel' };

/** The questions that servers ask during one call. */
export class CallElicitations {
  readonly #options: Options;
  #count = 0;
  #ended = 0;
  #refused: Omit<InputRequired, 'kind' | 'result'> | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the caller can be asked, as clients declare it in MCP. */
  get declared(): JsonObject {
    return this.#options.asker?.declared ?? {};
  }

  /** Whether the caller reads the `input_required` of a server itself. */
  get isRelay(): boolean {
    return this.#options.asker?.isRelay === true;
  }

  /** The first question without an answer of a person, and why there was none: the call has no result then. */
  get refused(): InputRequired | undefined {
    return this.#refused && { kind: 'input_required', ...this.#refused };
  }

  canBeAsked(mode: Elicitation['mode']): boolean {
    return modesOf(this.declared).includes(mode);
  }

  /** Asks the caller, within the limits. Never rejects. Without an answer of a person, the server gets `cancel`. */
  async ask(elicitation: Elicitation, limits: Limits, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { asker, clock } = this.#options;
    const { server, mode } = elicitation;
    if (asker === undefined || !this.canBeAsked(mode)) return this.refuse('nobody', elicitation);
    this.#count += 1;
    if (this.#count > MAX_QUESTIONS) return this.refuse('too_many', elicitation);
    // A call keeps its place on the server while its question is open: half of the places are left to others.
    const maxOpen = Math.max(1, Math.floor(limits.maxConcurrency / 2));
    const isFull = asker.open !== undefined && (asker.open() >= MAX_OPEN || asker.open(server) >= maxOpen);
    if (isFull) return this.refuse('too_many_open', elicitation);
    const goOn = limits.pause();
    const { questionTimeoutMs: waitedMs } = limits;
    try {
      const { outcome, isTimedOut } = await withDeadline(clock, waitedMs, signal, (limit) =>
        asker.ask(elicitation, limit),
      );
      if (isTimedOut) return this.refuse('late', elicitation, { waitedMs });
      if (typeof outcome === 'string') return this.refuse(outcome, elicitation);
      this.#end({ server, mode, action: outcome.action });
      return outcome;
    } finally {
      goOn();
    }
  }

  /** Remembers a question that is not asked, or has no answer. */
  refuse(why: NotAnswered, elicitation: Elicitation, more?: Pick<InputRequired, 'waitedMs'>): ElicitationAnswer {
    const { server, mode, params } = elicitation;
    this.#end({ server, mode, ...CANCEL });
    this.#note({ server, elicitation, requests: [toRequest(params)], why, ...more });
    return CANCEL;
  }

  /** Remembers that the person does not visit a URL without which the tool cannot run. */
  noteDeclined(elicitation: Elicitation): void {
    const { server, params } = elicitation;
    if (this.#refused === undefined)
      this.#note({ server, elicitation, requests: [toRequest(params)], why: 'declined' });
  }

  /** Remembers requests of a server that are no questions, cannot be read, or may be those of another caller. */
  refuseRequests(why: NotAnswered, server: string, requests: readonly JsonObject[]): void {
    if (requests.length > 0 || why === 'others') this.#end({ server, ...CANCEL });
    this.#note({ server, requests, why });
  }

  /** Of the questions of a server that asks without end, one more than it may ask is noted, and the others are not. */
  #end(ended: AuditedElicitation): void {
    this.#ended += 1;
    if (this.#ended <= MAX_QUESTIONS + 1) this.#options.onEnded(ended);
  }

  #note(refused: Omit<InputRequired, 'kind' | 'result'>): void {
    const { requests = [] } = this.#refused ?? {};
    if (requests.length > MAX_QUESTIONS) return;
    this.#refused = { ...(this.#refused ?? refused), requests: [...requests, ...refused.requests] };
  }

  onCompleted(elicitationId: string): void {
    this.#options.asker?.onCompleted?.(elicitationId);
  }

  /** Notes a question that the caller itself has read and answered. */
  onPassed(ended: AuditedElicitation): void {
    this.#end(ended);
  }
}

function toRequest(params: JsonObject): JsonObject {
  return { method: 'elicitation/create', params };
}
