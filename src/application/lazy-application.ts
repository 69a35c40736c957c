import type { Result } from 'neverthrow';
import type { AnswerError } from '../domain/answer-error.ts';
import type { Answer, AnswerQueryInput } from './answer-query.ts';
import type { Application } from './application.ts';
import type { Check } from './diagnose-setup.ts';

/** An application, and the function that closes everything built for it. */
export interface ComposedApplication {
  readonly application: Application;
  readonly close: () => Promise<void>;
}

/** An Application that is composed on first use. Calls wait for it in order. */
export class LazyApplication implements Application {
  readonly #compose: () => Promise<ComposedApplication>;
  #composing: Promise<ComposedApplication> | undefined;

  constructor(compose: () => Promise<ComposedApplication>) {
    this.#compose = compose;
  }

  async answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    const { application } = await this.#load();
    return application.answerQuery(input, signal);
  }

  async *diagnoseSetup(keyProblem: string | undefined, signal: AbortSignal): AsyncGenerator<Check> {
    yield* (await this.#load()).application.diagnoseSetup(keyProblem, signal);
  }

  /** Closes what was built, or is being built. */
  async close(): Promise<void> {
    const composed = await this.#composing?.catch(() => undefined);
    await composed?.close();
  }

  /** Every caller gets the same promise, and so continues in the order of the calls. */
  #load(): Promise<ComposedApplication> {
    this.#composing ??= this.#compose().catch((bug: unknown) => {
      // The next call tries again.
      this.#composing = undefined;
      throw bug;
    });
    return this.#composing;
  }
}
