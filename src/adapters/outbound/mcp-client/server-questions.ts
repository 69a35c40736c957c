import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/services.ts';
import type { AskedCaller, NotifiedCaller } from '../../../application/ports/tool-server.ts';
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

/** A request in flight. Only the caller of a tool can be asked. */
interface Sent {
  readonly caller: string;
  readonly asked: AskedCaller | NotifiedCaller | undefined;
}

/** A refused question, which may be that of any of these calls: the first that ends has asked. */
interface Refused {
  readonly calls: Set<RequestId>;
  readonly note: (notified: NotifiedCaller) => void;
}

const MAX_URLS = 100;
/** A server may go on with a request that was cancelled, and ask: as long as a person may take to answer. */
const LEFT_MS = 600_000;
const MAX_LEFT = 1000;
/** The reason of the end of a question that its server has cancelled. */
const TAKEN_BACK = 'cancelled by the server';
const CANCEL: ElicitationAnswer = { action: 'cancel' };

/** Answers the questions (MCP, elicitation) that a server of a revision before 2026-07-28 asks on one connection, by the calls in flight. */
export class ServerQuestions {
  readonly #server: string;
  readonly #clock: Clock;
  /** The revision that the server speaks. */
  revision = '';
  /** The requests in flight that callers have made, by their IDs. */
  readonly #sent = new Map<RequestId, Sent>();
  /** The cancelled requests that the server has not answered, by their IDs. */
  readonly #left = new BoundedMap<RequestId, { readonly caller: string; readonly leftMs: number }>(MAX_LEFT);
  /** The requests on whose event streams the server has sent its own, by the IDs of those. */
  readonly #streams = new Map<RequestId, RequestId>();
  readonly #open = new Map<RequestId, OpenQuestion>();
  readonly #refused = new Set<Refused>();
  /** The callers who were asked to visit a URL, by the ID of the question: the server may report later that they have. */
  readonly #visiting = new BoundedMap<string, AskedCaller>(MAX_URLS);
  #onClosed: (() => void)[] = [];

  constructor(server: string, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Whether a question to another caller is open whose call is not known: a further question could not be distinguished from it. */
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

  begin(id: RequestId, caller: string, asked?: Sent['asked']): void {
    this.#sent.set(id, { caller, asked });
  }

  /** Ends a request that is cancelled. A question that comes later may be that of this request. */
  leave(id: RequestId): void {
    const { caller } = this.#sent.get(id) ?? {};
    this.end(id);
    if (caller !== undefined) this.#left.set(id, { caller, leftMs: this.#clock.elapsedMs() });
  }

  /** The server has answered a request that is no longer in flight. */
  onResponse(id: RequestId): void {
    this.#left.delete(id);
  }

  /** Ends a request, and its questions. */
  end(callId: RequestId): void {
    const { asked } = this.#sent.get(callId) ?? {};
    this.#sent.delete(callId);
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
    const sent = [...this.#sent].filter(([id]) => !isOfCall || id === ofStream);
    const left = isOfCall
      ? []
      : [...this.#left.values()].filter((one) => this.#clock.elapsedMs() - one.leftMs < LEFT_MS);
    const callers = new Set([...sent.map(([, request]) => request), ...left].map(({ caller }) => caller));
    const calls = sent.flatMap(([id, { asked }]) => (asked && 'ask' in asked ? [[id, asked] as const] : []));
    // Tools ask far more often than prompts and resources.
    const notified =
      calls.length > 0 ? calls : sent.flatMap(([id, { asked }]) => (asked ? [[id, asked] as const] : []));
    // A call whose question is open seldom asks another one.
    const free = calls.filter(([callId]) => ![...this.#open.values()].some((one) => one.callId === callId));
    const candidates = free.length > 0 ? free : calls;
    const elicitation = parseElicitation(this.#server, params, this.revision);
    if (callers.size > 1) return this.#refuse('others', notified);
    const refuse = (why: NotAnswered) =>
      this.#refuse(
        why,
        calls.length > 0 ? candidates : notified,
        { method: 'elicitation/create', params },
        elicitation,
      );
    if (elicitation === undefined) return refuse('invalid');
    const chosen = candidates.find(([, asked]) => asked.canBeAsked(elicitation.mode));
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

  /** A question outside of a call is refused without a note. Without `request`, the caller may not know it. */
  #refuse(
    why: NotAnswered,
    candidates: readonly (readonly [RequestId, NotifiedCaller])[],
    request?: JsonObject,
    elicitation?: Elicitation,
  ): ElicitationAnswer {
    const note = (notified: NotifiedCaller) => notified.onRefused(why, request, elicitation);
    const [only, ...others] = candidates;
    if (only !== undefined && others.length === 0) note(only[1]);
    else if (only !== undefined) this.#refused.add({ calls: new Set(candidates.map(([callId]) => callId)), note });
    return CANCEL;
  }
}
