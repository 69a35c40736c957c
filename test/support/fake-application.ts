import { err, ok } from 'neverthrow';
import type { AnswerQueryInput } from '../../src/application/answers/answer-query.ts';
import type { Application } from '../../src/application/answers/application.ts';
import type { Check } from '../../src/application/answers/diagnose-setup.ts';
import type { Answer } from '../../src/application/tools/tool-call.ts';
import type { AnswerError } from '../../src/domain/answers/answer-error.ts';

export type ConfiguredAnswer = Application['answerQuery']['execute'];

/**
 * Returns its configured answers in order, records what it was asked, and throws if it is asked too often. As in the core, a
 * question that is cancelled ends with `cancelled`.
 */
export class FakeApplication implements Application {
  readonly answerQuery = { execute: this.#execute.bind(this) };
  readonly asked: AnswerQueryInput[] = [];
  readonly cancelled: AnswerQueryInput[] = [];
  readonly #configured: readonly ConfiguredAnswer[];

  constructor(...configured: readonly ConfiguredAnswer[]) {
    this.#configured = configured;
  }

  diagnoseSetup(): AsyncGenerator<Check> {
    throw new Error('FakeApplication has no checks configured');
  }

  #execute(input: AnswerQueryInput, signal: AbortSignal): ReturnType<ConfiguredAnswer> {
    const answer = this.#configured[this.asked.length];
    this.asked.push(input);
    if (answer === undefined) throw new Error(`FakeApplication has ${this.#configured.length} answers and needs more`);
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.cancelled.push(input);
        resolve(err({ kind: 'cancelled' }));
      };
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel);
      answer(input, signal).then(resolve, reject);
    });
  }
}

export const ANSWER: Answer = {
  result: { answer: 'Not Found.', used_search: false, citations: [], model: 'gpt-5.2' },
  report: { queries: [], searches: 0, attempts: 1, seconds: 1.23456 },
};

export function answers(answer: Answer = ANSWER): ConfiguredAnswer {
  return async () => ok(answer);
}

export function failsWith(error: AnswerError): ConfiguredAnswer {
  return async () => err(error);
}

/** Waits until it is cancelled. */
export const hangs: ConfiguredAnswer = () => new Promise(() => {});
