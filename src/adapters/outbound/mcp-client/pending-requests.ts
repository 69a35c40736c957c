import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import { InProgress } from '../../../application/async/in-progress.ts';
import { type Answered, answeredBy, type LineEnds } from './line-reader.ts';
import { readCutMessage } from './substitute-response.ts';

/** The requests that wait for a response. The client uses numbers as IDs. */
export class PendingRequests {
  readonly #ids = new InProgress<number>();
  readonly #calls = new InProgress<number>();
  readonly #lists = new InProgress<number>();

  add({ id, method }: Pick<JSONRPCRequest, 'id' | 'method'>): void {
    this.#ids.add(Number(id));
    const answered = answeredBy(method);
    if (answered === 'call') this.#calls.add(Number(id));
    else if (answered === 'list') this.#lists.add(Number(id));
  }

  has(id: number): boolean {
    return this.#ids.has(id);
  }

  /** Whether the request was waiting. */
  settle(id: unknown): boolean {
    if (!this.#calls.delete(Number(id))) this.#lists.delete(Number(id));
    return this.#ids.delete(Number(id));
  }

  /** What a line answers. */
  answeredIn({ head, tail }: LineEnds): Answered {
    const message = readCutMessage(head, tail);
    const id = message.kind === 'response' ? Number(message.id) : Number.NaN;
    if (this.#calls.has(id)) return 'call';
    return this.#lists.has(id) ? 'list' : 'other';
  }

  /** Those that are waiting now. */
  [Symbol.iterator](): Iterator<number> {
    return this.#ids[Symbol.iterator]();
  }
}
