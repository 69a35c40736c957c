import {
  type Asker,
  type Elicitation,
  type ElicitationAnswer,
  modesOf,
  type NotAnswered,
  parseAnswer,
} from '../../../domain/gateway/elicitation.ts';
import { ELICIT, namedRequest } from '../../../domain/gateway/input-requests.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { IncomingMessage, Params, RequestId } from './json-rpc.ts';
import type { Send } from './tool-set.ts';

type Response = Extract<IncomingMessage, { readonly kind: 'response' }>;
type Settle = (answer: ElicitationAnswer | NotAnswered) => void;

/** The questions to a client with a session of a revision before 2026-07-28, which answers requests of this program. */
export class ClientQuestions {
  readonly #newId: () => string;
  readonly #open = new Map<RequestId, Settle>();
  #capabilities: Params = {};
  #count = 0;
  #isClosed = false;

  /** `newId` returns a unique text. */
  constructor(newId: () => string) {
    this.#newId = newId;
  }

  /** What the client can be asked, in the form of MCP, for servers that start now. */
  get declared(): JsonObject {
    const modes = modesOf(this.#capabilities);
    return modes.length === 0 ? {} : { elicitation: Object.fromEntries(modes.map((mode) => [mode, {}])) };
  }

  /** Keeps the capabilities of the client: those of `initialize`, or of a request of MCP 2026-07-28. */
  declare(capabilities: Params): void {
    this.#capabilities = capabilities;
  }

  /** Asks the client during a call. Undefined if it cannot be asked. `send` sends messages to the client. */
  asker(send: Send): Asker | undefined {
    const { declared } = this;
    if (declared.elicitation === undefined) return undefined;
    return {
      declared,
      ask: (elicitation, signal) => this.#ask(elicitation, send, signal),
      onCompleted: (elicitationId) =>
        send({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } }),
    };
  }

  onResponse({ id, result }: Response): void {
    const settle = id === undefined ? undefined : this.#open.get(id);
    // A client that answers with an error has not asked anyone.
    settle?.(parseAnswer(result) ?? 'nobody');
  }

  /** The client cannot answer any more. */
  close(): void {
    this.#isClosed = true;
    for (const settle of [...this.#open.values()]) settle('ended');
  }

  #ask(elicitation: Elicitation, send: Send, signal: AbortSignal): ReturnType<Asker['ask']> {
    if (this.#isClosed) return Promise.resolve('ended');
    this.#count += 1;
    const id = `elicitation-${this.#count}`;
    return new Promise((resolve) => {
      const settle: Settle = (answer) => {
        this.#open.delete(id);
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      const onAbort = () => {
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        settle({ action: 'cancel' });
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#open.set(id, settle);
      send({ jsonrpc: '2.0', id, method: ELICIT, params: this.#toParams(elicitation) });
    });
  }

  /** Clients of these revisions require an ID for a URL, which servers of 2026-07-28 do not send. */
  #toParams(elicitation: Elicitation): Params {
    const { params } = namedRequest(elicitation) as { readonly params: Params };
    return elicitation.mode === 'url' && params.elicitationId === undefined
      ? { ...params, elicitationId: this.#newId() }
      : params;
  }
}
