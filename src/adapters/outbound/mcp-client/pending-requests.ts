import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import { InProgress } from '../../../application/async/in-progress.ts';
import { type Answered, answeredBy, type LineEnds } from './line-reader.ts';
import { readCutMessage } from './substitute-response.ts';

const KINDS = ['call', 'list', 'other'] as const;

/** The IDs of the requests that wait for a response. The client uses numbers. */
export class PendingRequests {
  readonly #ids: Readonly<Record<Answered, InProgress<number>>> = {
    call: new InProgress(),
    list: new InProgress(),
    other: new InProgress(),
  };

  add({ id, method }: Pick<JSONRPCRequest, 'id' | 'method'>): void {
    this.#ids[answeredBy(method)].add(Number(id));
  }

  has(id: number): boolean {
    return KINDS.some((kind) => this.#ids[kind].has(id));
  }

  /** Whether the request was waiting. */
  settle(id: unknown): boolean {
    return KINDS.some((kind) => this.#ids[kind].delete(Number(id)));
  }

  /** What a line answers. */
  answeredIn({ head, tail }: LineEnds): Answered {
    const message = readCutMessage(head, tail);
    const id = message.kind === 'response' ? Number(message.id) : Number.NaN;
    return KINDS.find((kind) => this.#ids[kind].has(id)) ?? 'other';
  }

  /** Those that are waiting now. */
  [Symbol.iterator](): Iterator<number> {
    return KINDS.flatMap((kind) => [...this.#ids[kind]]).values();
  }
}
