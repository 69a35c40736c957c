import { err, ok, type Result } from 'neverthrow';
import type { SearchObserver, SearchReply } from '../../src/application/ports/llm-search.ts';
import type { FunctionCall, LlmTurns, Turn, TurnRequest } from '../../src/application/ports/llm-turns.ts';
import type { SearchError } from '../../src/domain/answer-error.ts';
import { searchReply } from './fake-llm-search.ts';

type Outcome = Result<Turn, SearchError>;
export type ConfiguredTurn = (request: TurnRequest, observer: SearchObserver, signal: AbortSignal) => Promise<Outcome>;

/** Plays its configured turns in order, records its requests, and throws if it is asked too often. */
export class FakeLlmTurns implements LlmTurns {
  readonly requests: TurnRequest[] = [];
  readonly #configured: readonly ConfiguredTurn[];

  constructor(...configured: readonly ConfiguredTurn[]) {
    this.#configured = configured;
  }

  turn(request: TurnRequest, observer: SearchObserver, signal: AbortSignal): Promise<Outcome> {
    const turn = this.#configured[this.requests.length];
    this.requests.push(request);
    if (turn === undefined) throw new Error(`FakeLlmTurns has ${this.#configured.length} turns and needs more`);
    return turn(request, observer, signal).then((outcome) => {
      if (outcome.isOk()) observer.onUsed?.(outcome.value.reply.report);
      return outcome;
    });
  }
}

/** A call as the model writes it; the arguments are an object, or a text that may be anything. */
export function calls(name: string, args: object | string = {}, over: Partial<FunctionCall> = {}): FunctionCall {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { callId: `call_${name}`, name, arguments: text, isIncomplete: false, ...over };
}

/** A response with these calls, after which it can be recognized by its items. */
export function asks(...calls: readonly FunctionCall[]): ConfiguredTurn {
  return asksWith({}, ...calls);
}

export function asksWith(reply: Partial<SearchReply>, ...calls: readonly FunctionCall[]): ConfiguredTurn {
  return async () =>
    ok({ items: calls.map((call) => ({ item: call })), calls, reply: searchReply({ text: '', ...reply }) });
}

/** The answer, in a response without calls. */
export function says(text: string, over: Partial<SearchReply> = {}): ConfiguredTurn {
  return async () => ok({ items: [{ message: text }], calls: [], reply: searchReply({ text, ...over }) });
}

export function turnFails(error: SearchError): ConfiguredTurn {
  return async () => err(error);
}
