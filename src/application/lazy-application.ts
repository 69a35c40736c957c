import type { Result } from 'neverthrow';
import type { AnswerError } from '../domain/answer-error.ts';
import type { Answer, AnswerQueryInput } from './answer-query.ts';
import type { Application } from './application.ts';
import type { CancelRequestInput } from './cancel-request.ts';
import type { Check } from './diagnose-setup.ts';

/**
 * An Application that is put together when it is first asked, so that a server starts without it. What is asked meanwhile waits
 * in the order of asking: a cancellation finds the question before it.
 */
export class LazyApplication implements Application {
  readonly #load: () => Promise<Application>;
  #loaded: Promise<Application> | undefined;

  constructor(load: () => Promise<Application>) {
    this.#load = load;
  }

  async answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    return (await this.#application()).answerQuery(input, signal);
  }

  cancelRequest(input: CancelRequestInput): void {
    void this.#loaded?.then((application) => application.cancelRequest(input));
  }

  async *diagnoseSetup(hasKey: boolean, signal: AbortSignal): AsyncGenerator<Check> {
    yield* (await this.#application()).diagnoseSetup(hasKey, signal);
  }

  #application(): Promise<Application> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }
}
