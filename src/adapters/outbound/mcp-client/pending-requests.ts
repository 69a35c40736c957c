import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import { InProgress } from '../../../application/async/in-progress.ts';
import { isCall, type LineEnds } from './line-reader.ts';
import { readCutMessage } from './substitute-response.ts';

/** The requests that wait for a response. The client uses numbers as IDs. */
export class PendingRequests {
  readonly #ids = new InProgress<number>();
  /** Those of calls. */
  readonly #calls = new InProgress<number>();

  add({ id, method }: Pick<JSONRPCRequest, 'id' | 'method'>): void {
    this.#ids.add(Number(id));
    if (isCall(method)) this.#calls.add(Number(id));
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** Whether the request was waiting. */
  settle(id: unknown): boolean {
    this.#calls.delete(Number(id));
    return this.#ids.delete(Number(id));
  }

  isResultOfCall({ head, tail }: LineEnds): boolean {
    const message = readCutMessage(head, tail);
    return message.kind === 'response' && this.#calls.has(Number(message.id));
  }

  /** Those that are waiting now. */
  [Symbol.iterator](): Iterator<number> {
    return this.#ids[Symbol.iterator]();
  }
}
