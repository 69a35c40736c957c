import type { Asker, Elicitation, ElicitationAnswer, NotAnswered } from '../../domain/gateway/elicitation.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { TIMED_OUT } from '../async/deadline.ts';
import type { CallEvent, ToolCall, ToolOutcome } from './tool-call.ts';

/** What a retry must have in common with the call: only the same caller may continue the same call. */
export interface CallIdentity {
  readonly caller: string;
  /** The method, the tool and the arguments. */
  readonly request: string;
}

/** A call up to its next question, or to its end. */
export type Step = AskedStep | { readonly outcome: ToolOutcome };

/** A question for the client. `tool` is the one that was called. */
export interface AskedStep {
  readonly state: string;
  readonly elicitation: Elicitation;
  readonly tool: string;
}

interface OpenCallOptions {
  readonly identity: CallIdentity;
  readonly declared: JsonObject;
  readonly run: (call: Pick<ToolCall, 'asker' | 'on'>, signal: AbortSignal) => Promise<ToolOutcome>;
  readonly isClosed: () => boolean;
  /** The number of questions of the caller, as `Asker.open`. */
  readonly openOf: (server?: string) => number;
  /** Returns a state for a question. */
  readonly open: () => string;
  readonly forget: (state: string) => void;
  /** Called with the states that were not used. */
  readonly onEnded: (states: readonly string[]) => void;
}

interface Question {
  readonly elicitation: Elicitation;
  readonly resolve: (answer: ElicitationAnswer | NotAnswered) => void;
  /** Undefined until the client gets the question. */
  state?: string;
}

type On = (event: CallEvent) => void;

/** A call that continues while no request of its client is in flight. */
export class OpenCall {
  readonly run: OpenCallOptions['run'];
  readonly identity: CallIdentity;
  readonly #options: OpenCallOptions;
  readonly #controller = new AbortController();
  readonly #questions: Question[] = [];
  /** The states of questions that ended without their client. */
  readonly #unused: string[] = [];
  #ended: Promise<ToolOutcome> | undefined;
  #outcome: { readonly outcome: ToolOutcome } | undefined;
  #failure: { readonly bug: unknown } | undefined;
  #on: On = () => {};
  #tool = '';
  #wake = (): void => {};

  constructor(options: OpenCallOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.run = options.run;
  }

  /** The servers whose questions wait. */
  get servers(): readonly string[] {
    return this.#questions.map(({ elicitation }) => elicitation.server);
  }

  /** Answers the question with this state. Without a question, it has ended in the meantime. */
  answer(state: string, answer: ElicitationAnswer): void {
    this.#questions.find((question) => question.state === state)?.resolve(answer);
  }

  /** Asks the question with this state again, because the client did not answer it. */
  askAgain(state: string): void {
    const question = this.#questions.find((one) => one.state === state);
    if (question !== undefined) delete question.state;
  }

  /** Waits for the next question, or the end. Until then, the call is cancelled if `signal` aborts. Rejects only because of a bug. */
  async step(on: On, signal: AbortSignal): Promise<Step> {
    this.#on = on;
    const cancel = () => this.#controller.abort(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      this.#start();
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure.bug;
        if (this.#outcome !== undefined) return this.#outcome;
        const next = this.#questions.find(({ state }) => state === undefined);
        if (next !== undefined && !signal.aborted) {
          next.state = this.#options.open();
          return { state: next.state, elicitation: next.elicitation, tool: this.#tool };
        }
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#on = () => {};
      this.#wake = () => {};
    }
  }

  close(): void {
    for (const { resolve } of [...this.#questions]) resolve('ended');
  }

  #start(): void {
    if (this.#ended !== undefined) return;
    const { declared, onEnded, openOf: open } = this.#options;
    const ask: Asker['ask'] = (elicitation, signal) => this.#ask(elicitation, signal);
    const asker: Asker = { declared, isRelay: true, ask, open };
    this.#ended = this.run({ asker, on: (event) => this.#onEvent(event) }, this.#controller.signal);
    const end = () => {
      onEnded(this.#unused);
      this.#wake();
    };
    this.#ended.then(
      (outcome) => {
        this.#outcome = { outcome };
        end();
      },
      (bug: unknown) => {
        this.#failure = { bug };
        end();
      },
    );
  }

  #onEvent(event: CallEvent): void {
    if (event.kind === 'found') this.#tool = event.tool.name;
    this.#on(event);
  }

  #ask(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer | NotAnswered> {
    if (this.#options.isClosed()) return Promise.resolve('ended');
    return new Promise((settle) => {
      const question: Question = {
        elicitation,
        resolve: (answer) => {
          signal.removeEventListener('abort', onAbort);
          this.#questions.splice(this.#questions.indexOf(question), 1);
          settle(answer);
        },
      };
      const onAbort = () => {
        const { state } = question;
        if (state !== undefined && signal.reason === TIMED_OUT) this.#options.forget(state);
        else if (state !== undefined) this.#unused.push(state);
        question.resolve({ action: 'cancel' });
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#questions.push(question);
      this.#wake();
    });
  }
}
