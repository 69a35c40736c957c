import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { AskedCaller } from '../../../application/ports/tool-server.ts';
import {
  type Elicitation,
  type ElicitationAnswer,
  type NotAnswered,
  parseElicitation,
} from '../../../domain/gateway/elicitation.ts';
import { BoundedMap } from '../../../domain/values/bounded-map.ts';
import type { JsonObject } from '../../../domain/values/json.ts';

/** A question that waits for its answer. */
interface OpenQuestion {
  readonly caller: string;
  /** The call that is asked; it need not be the one that asks. */
  readonly callId: RequestId;
  /** Whether the call that asks is known, so that no other call can be taken for it. */
  readonly isOfCall: boolean;
  readonly end: AbortController;
}

/** A refused question, which may be that of any of these calls: the first that ends has asked. */
interface Refused {
  readonly calls: Set<RequestId>;
  readonly note: (asked: AskedCaller) => void;
}

const MAX_URLS = 100;
/** The reason of the end of a question that its server has cancelled. */
const TAKEN_BACK = 'cancelled by the server';
const CANCEL: ElicitationAnswer = { action: 'cancel' };

/** Answers the questions (MCP, elicitation) that a server of a revision before 2026-07-28 asks on one connection, by the calls in flight. */
export class ServerQuestions {
  readonly #server: string;
  /** The revision that the server speaks. */
  revision = '';
  /** The calls in flight, by the IDs of their requests. */
  readonly #calls = new Map<RequestId, AskedCaller>();
  /** The requests on whose event streams the server has sent its own, by the IDs of those. */
  readonly #streams = new Map<RequestId, RequestId>();
  readonly #open = new Map<RequestId, OpenQuestion>();
  readonly #refused = new Set<Refused>();
  /** The callers who were asked to visit a URL, by the ID of the question: the server may report later that they have. */
  readonly #visiting = new BoundedMap<string, AskedCaller>(MAX_URLS);
  #onClosed: (() => void)[] = [];

  constructor(server: string) {
    this.#server = server;
  }

  /** Whether a question to another caller is open whose call is not known: a further question could not be told from it. */
  mustWait({ caller }: AskedCaller): boolean {
    if (this.#open.size === 0) return false;
    return [...this.#open.values()].some((one) => one.caller !== caller && !one.isOfCall);
  }

  /** Waits while the caller must. */
  async turn(asked: AskedCaller, signal: AbortSignal): Promise<void> {
    asked.onWaiting();
    while (this.mustWait(asked) && !signal.aborted) {
      await untilAborted(new Promise<void>((resolve) => this.#onClosed.push(resolve)), signal);
    }
  }

  begin(callId: RequestId, asked: AskedCaller): void {
    this.#calls.set(callId, asked);
  }

  /** Ends a call, and its questions. */
  end(callId: RequestId): void {
    const asked = this.#calls.get(callId);
    this.#calls.delete(callId);
    for (const question of this.#open.values()) if (question.callId === callId) question.end.abort();
    for (const refused of this.#refused) {
      if (asked === undefined || !refused.calls.has(callId)) continue;
      this.#refused.delete(refused);
      refused.note(asked);
    }
  }

  /** Remembers on which request's event stream a request of the server comes. */
  onStream(serverRequestId: RequestId, callId: RequestId): void {
    this.#streams.set(serverRequestId, callId);
  }

  /** Reads a message of the server, and responds to a question; returns whether the message was about one. */
  receive(message: JSONRPCMessage, respond: (response: JSONRPCMessage) => Promise<void>): boolean {
    if (!('method' in message)) return false;
    const { method, params = {} } = message;
    if (method === 'elicitation/create' && 'id' in message) {
      const { id } = message;
      const send = (result: ElicitationAnswer | undefined) =>
        result && respond({ jsonrpc: '2.0', id, result: { ...result } });
      // A server that is gone needs no answer.
      void this.#answer(id, params)
        .then(send)
        .catch(() => {});
      return true;
    }
    if (method === 'notifications/elicitation/complete') {
      const id = String(params.elicitationId);
      this.#visiting.get(id)?.onCompleted(id);
      return true;
    }
    if (method !== 'notifications/cancelled') return false;
    const open = this.#open.get(params.requestId as RequestId);
    open?.end.abort(TAKEN_BACK);
    return open !== undefined;
  }

  /** Asks the caller of the call that asks. Never rejects. Undefined if the server has taken the question back. */
  async #answer(id: RequestId, params: unknown): Promise<ElicitationAnswer | undefined> {
    const ofStream = this.#streams.get(id);
    this.#streams.delete(id);
    const isOfCall = ofStream !== undefined;
    const candidates = [...this.#calls].filter(([callId]) => !isOfCall || callId === ofStream);
    const elicitation = parseElicitation(this.#server, params, this.revision);
    const refuse = (why: NotAnswered) => this.#refuse(why, candidates, elicitation, params);
    if (elicitation === undefined) return refuse('invalid');
    if (new Set(candidates.map(([, { caller }]) => caller)).size > 1) return refuse('others');
    const [chosen] = candidates.filter(([, asked]) => asked.canBeAsked(elicitation.mode));
    if (chosen === undefined) return refuse('nobody');
    const [callId, asked] = chosen;
    const end = new AbortController();
    this.#open.set(id, { caller: asked.caller, callId, isOfCall, end });
    const { elicitationId } = elicitation.params;
    if (typeof elicitationId === 'string') this.#visiting.set(elicitationId, asked);
    try {
      const answer = await asked.ask(elicitation, end.signal);
      return end.signal.reason === TAKEN_BACK ? undefined : answer;
    } finally {
      this.#open.delete(id);
      for (const resolve of this.#onClosed.splice(0)) resolve();
    }
  }

  /** A question outside of a call is refused without a note. */
  #refuse(
    why: NotAnswered,
    candidates: readonly (readonly [RequestId, AskedCaller])[],
    elicitation: Elicitation | undefined,
    params: unknown,
  ): ElicitationAnswer {
    const request: JsonObject = { method: 'elicitation/create', params };
    const note = (asked: AskedCaller) => asked.onRefused(why, request, elicitation);
    const [only, ...others] = candidates;
    if (only !== undefined && others.length === 0) note(only[1]);
    else if (only !== undefined) this.#refused.add({ calls: new Set(candidates.map(([callId]) => callId)), note });
    return CANCEL;
  }
}
