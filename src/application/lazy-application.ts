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
  #loading: Promise<Application> | undefined;
  #loaded: Application | undefined;

  constructor(load: () => Promise<Application>) {
    this.#load = load;
  }

  async answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>> {
    if (this.#loaded !== undefined) return this.#loaded.answerQuery(input, signal);
    return this.#application().then((application) => application.answerQuery(input, signal));
  }

  cancelRequest(input: CancelRequestInput): void {
    if (this.#loaded !== undefined) this.#loaded.cancelRequest(input);
    else
      this.#loading?.then(
        (application) => application.cancelRequest(input),
        () => {},
      );
  }

  async *diagnoseSetup(hasKey: boolean, signal: AbortSignal): AsyncGenerator<Check> {
    yield* (await this.#application()).diagnoseSetup(hasKey, signal);
  }

  /** One promise for all who ask meanwhile: they go on in the order in which they took hold of it. */
  #application(): Promise<Application> {
    this.#loading ??= this.#load().then(
      (application) => {
        this.#loaded = application;
        return application;
      },
      (fault: unknown) => {
        // The next question tries again.
        this.#loading = undefined;
        throw fault;
      },
    );
    return this.#loading;
  }
}
