import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  type RequestId,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { AskedCaller, NotifiedCaller, ToolProgress } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import type { ServerQuestions } from './server-questions.ts';
import { bodyOf, ExactResponses, lostResponse, toInitializeResult, toStrict } from './server-replies.ts';

/** The client numbers its own requests from 0. */
const FIRST_ID = 1_000_000;

export interface AskOptions extends Pick<TransportSendOptions, 'headers'> {
  readonly signal: AbortSignal;
  readonly onprogress?: ((progress: ToolProgress) => void) | undefined;
  /** Who has made the request, and who can be asked if it is a call. */
  readonly caller?: string | undefined;
  readonly asked?: AskedCaller | NotifiedCaller | undefined;
}

/** A request of `ask` that waits for its response. */
interface Asked {
  readonly onProgress: AskOptions['onprogress'];
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** Thrown for a request that a server did not accept, if it has a session, because it does not know the session. The cause is the error. */
export class SessionLost extends Error {}

/**
 * Wraps a transport of the official client, so that every request settles: one whose event stream ends without a response, or whose response is
 * malformed, gets an error. Also ends the stream of a cancelled request, and delivers progress before the result that arrives with it.
 */
export class SettlingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly hasPerRequestStream: boolean;
  readonly #transport: Transport;
  /** The client's own requests that wait for a response. The controller ends the stream of a request, if it has one. */
  readonly #waiting = new Map<RequestId, AbortController | undefined>();
  readonly #asked = new Map<number, Asked>();
  /** The client's requests `server/discover` (its ID), until it is answered, and `initialize`. */
  #discover: RequestId | undefined;
  #initialize: JSONRPCRequest | undefined;
  #nextId = FIRST_ID;
  readonly exact = new ExactResponses();

  /** The questions of a server of a revision before 2026-07-28. */
  readonly questions: ServerQuestions;

  constructor(transport: Transport, questions: ServerQuestions) {
    const { onerror } = transport;
    this.#transport = transport;
    this.questions = questions;
    this.hasPerRequestStream = transport.hasPerRequestStream === true;
    transport.onclose = () => {
      this.onclose?.();
      const lost = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed');
      for (const { reject } of [...this.#asked.values()]) reject(lost);
    };
    transport.onerror = (error) => {
      onerror?.(error);
      this.onerror?.(error);
    };
    transport.onmessage = (received, extra) => {
      const message = this.exact.take(received);
      if ('method' in message) {
        const isQuestion = questions.receive(message, (response) => transport.send(response));
        return isQuestion || this.#isProgress(message) ? undefined : this.onmessage?.(message, extra);
      }
      const id = this.#requestOf(message.id);
      if (id !== undefined) {
        const settled = this.#asked.get(Number(id));
        if (settled !== undefined) return this.#settle(settled, toStrict(id, message));
        questions.onResponse(id);
        this.#waiting.delete(id);
        if (id === this.#discover) this.#discover = undefined;
        const response = toStrict(id, message);
        const asked = id === this.#initialize?.id ? this.#initialize.params : undefined;
        const isInitialized = asked !== undefined && 'result' in response;
        const read = isInitialized
          ? { ...response, result: toInitializeResult(response.result, asked.protocolVersion) }
          : response;
        // The client handles a notification in a microtask, so that a response must not overtake it.
        queueMicrotask(() => this.onmessage?.(read, extra));
      } else this.onmessage?.(message, extra);
    };
  }

  /** Whether a request waits for its response. */
  get isBusy(): boolean {
    return this.#asked.size > 0 || this.#waiting.size > 0;
  }

  /** Whether the server was asked for MCP 2026-07-28, and has not answered. */
  get isDiscovering(): boolean {
    return this.#discover !== undefined && !this.hasInitialized;
  }

  /** Whether the handshake of the earlier revisions has begun. */
  get hasInitialized(): boolean {
    return this.#initialize !== undefined;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.questions.revision = version;
    this.#transport.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    // The client itself observes the end of the stream of a subscription.
    const isRequest = 'method' in message && 'id' in message && options.onRequestStreamEnd === undefined;
    if (isRequest) return this.#send(message, options);
    const isNotification = 'method' in message && !('id' in message);
    await this.#transport.send(message, options).catch((error) => {
      // Some servers refuse what they need not answer. What the refusal means for requests, the next one shows.
      if (!isNotification || !(error instanceof SdkHttpError)) throw error;
    });
    if ('method' in message && message.method === 'notifications/cancelled') this.#end(message.params?.requestId);
  }

  /**
   * Sends a request to a server of a revision before 2026-07-28, and rejects like `Client.request`, which would check each message against its
   * schemas several times, and set a timer. Later revisions have an envelope that only the client knows.
   */
  ask(
    method: string,
    params: JsonObject,
    { signal, onprogress, headers, caller, asked: person }: AskOptions,
  ): Promise<JsonObject> {
    const id = this.#nextId;
    this.#nextId += 1;
    const sent = onprogress ? { ...params, _meta: { ...(params._meta as object), progressToken: id } } : params;
    const ended = this.hasPerRequestStream ? new AbortController() : undefined;
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#asked.delete(id);
        this.questions.end(id);
        signal.removeEventListener('abort', cancel);
      };
      const fail = (error: Error) => {
        leave();
        reject(error);
      };
      const cancel = () => {
        this.questions.leave(id);
        fail(new SdkError(SdkErrorCode.RequestTimeout, String(signal.reason)));
        const cancelled = { requestId: id, reason: String(signal.reason) };
        const notified = this.#transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled });
        void notified.catch(() => {}).then(() => ended?.abort());
      };
      signal.addEventListener('abort', cancel, { once: true });
      const onResult = (result: JsonObject) => {
        leave();
        resolve(result);
      };
      const asked = { onProgress: onprogress, resolve: onResult, reject: fail };
      this.#asked.set(id, asked);
      if (caller !== undefined) this.questions.begin(id, caller, person);
      const onRequestStreamEnd = () => this.#settle(asked, lostResponse(id));
      const options = ended && { requestSignal: ended.signal, onRequestStreamEnd };
      this.#transport
        .send({ jsonrpc: '2.0', id, method, params: sent }, { ...options, ...(headers && { headers }) })
        .catch((error) => fail(isSessionLost(error, id) ? new SessionLost(error.message, { cause: error }) : error));
    });
  }

  /** Sends a request of the client. */
  async #send(message: JSONRPCMessage & { readonly id: RequestId }, options: TransportSendOptions): Promise<void> {
    const { id } = message;
    if ('method' in message && message.method === 'server/discover') this.#discover = id;
    if ('method' in message && message.method === 'initialize') this.#initialize = message;
    const ended = this.hasPerRequestStream ? new AbortController() : undefined;
    this.#waiting.set(id, ended);
    const onRequestStreamEnd = () => {
      if (this.#waiting.delete(id)) this.onmessage?.(lostResponse(id));
    };
    const requestSignal = options.requestSignal ?? ended?.signal;
    try {
      await this.#transport.send(message, { ...options, ...(requestSignal && { requestSignal }), onRequestStreamEnd });
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
  }

  /** The ID of the request to which a response belongs: some servers write it as a text, and none for a request that they refuse. */
  #requestOf(id: RequestId | undefined): RequestId | undefined {
    const number = Number(id);
    if (typeof id === 'string') return this.#asked.has(number) || this.#waiting.has(number) ? number : id;
    if (id !== undefined) return id;
    const [only, ...others] = [...this.#asked.keys(), ...this.#waiting.keys()];
    return others.length === 0 ? only : undefined;
  }

  #settle({ resolve, reject }: Asked, response: JSONRPCMessage): void {
    if ('result' in response) resolve(response.result as JsonObject);
    else if ('error' in response) {
      const { code, message, data } = response.error;
      reject(ProtocolError.fromError(code, message, data));
    }
  }

  /** Delivers the progress of a request of `ask`; returns whether the message was that. */
  #isProgress(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/progress') return false;
    const { progressToken, progress, total, message: text } = message.params ?? {};
    const asked = this.#asked.get(Number(progressToken));
    if (asked === undefined) return false;
    if (typeof progress !== 'number') return true;
    const isTotal = typeof total === 'number';
    const isText = typeof text === 'string';
    asked.onProgress?.({ progress, ...(isTotal && { total }), ...(isText && { message: text }) });
    return true;
  }

  #end(id: unknown): void {
    const waiting = this.#waiting.get(id as RequestId);
    this.#waiting.delete(id as RequestId);
    waiting?.abort();
  }
}

/** Whether a server did not accept a request because of its session. After a restart, many answer 400, which is no answer to the request. */
function isSessionLost(error: unknown, id: RequestId): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  const status = Number(error.status);
  return status === 404 || status === 410 || (status === 400 && bodyOf(error)?.id !== id);
}
