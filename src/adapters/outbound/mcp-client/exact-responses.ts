import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject } from '../../../domain/values/json.ts';

/** Responses with numbers whose digits the official client changes when it parses them, until it passes them on. */
export class ExactResponses {
  readonly #byId = new Map<unknown, JSONRPCMessage>();

  keep(message: unknown): void {
    const isResponse = isObject(message) && message.id !== undefined && !('method' in message);
    if (isResponse) this.#byId.set(message.id, message as unknown as JSONRPCMessage);
  }

  /** The response with every digit, or the message itself. */
  take(received: JSONRPCMessage): JSONRPCMessage {
    if (this.#byId.size === 0 || 'method' in received) return received;
    const exact = this.#byId.get(received.id);
    this.#byId.delete(received.id);
    return exact ?? received;
  }
}
