import { err, ok } from 'neverthrow';
import type { Answer, AnswerQueryInput } from '../../../../src/application/answer-query.ts';
import type { Application } from '../../../../src/application/application.ts';
import type { CancelRequestInput } from '../../../../src/application/cancel-request.ts';
import type { Check } from '../../../../src/application/diagnose-setup.ts';
import type { AnswerError } from '../../../../src/domain/answer-error.ts';

export type Told = Application['answerQuery'];

/** Answers as it was told, in order; remembers what it was asked and what was cancelled; fails loudly when asked too often. */
export class FakeApplication implements Application {
  readonly asked: AnswerQueryInput[] = [];
  readonly signals: AbortSignal[] = [];
  readonly cancelled: CancelRequestInput[] = [];
  readonly #told: readonly Told[];

  constructor(...told: readonly Told[]) {
    this.#told = told;
  }

  answerQuery(input: AnswerQueryInput, signal: AbortSignal): ReturnType<Told> {
    const told = this.#told[this.asked.length];
    this.asked.push(input);
    this.signals.push(signal);
    if (told === undefined) throw new Error(`FakeApplication was told ${this.#told.length} answers and asked for more`);
    return told(input, signal);
  }

  cancelRequest(input: CancelRequestInput): void {
    this.cancelled.push(input);
  }

  diagnoseSetup(): AsyncGenerator<Check> {
    throw new Error('FakeApplication was not told to diagnose');
  }
}

export const ANSWER: Answer = {
  result: { answer: 'Not Found.', used_search: false, citations: [], model: 'gpt-5.2' },
  report: { queries: [], searches: 0, attempts: 1, seconds: 1.23456 },
};

export function answers(answer: Answer = ANSWER): Told {
  return async () => ok(answer);
}

export function failsWith(error: AnswerError): Told {
  return async () => err(error);
}

/** Runs until its signal aborts. */
export const hangsUntilClosed: Told = (_input, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(err({ kind: 'cancelled' })), { once: true });
  });
