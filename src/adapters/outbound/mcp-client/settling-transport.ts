import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { errorResponse, INVALID, LOST } from './error-response.ts';

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
  /** Ends the streams of the requests that wait for a response. */
  readonly #waiting = new Map<RequestId, AbortController>();

  constructor(transport: Transport) {
    const { onerror } = transport;
    this.#transport = transport;
    this.hasPerRequestStream = transport.hasPerRequestStream === true;
    transport.onclose = () => this.onclose?.();
    transport.onerror = (error) => {
      onerror?.(error);
      this.onerror?.(error);
    };
    transport.onmessage = (message, extra) => {
      if ('method' in message || message.id === undefined) return this.onmessage?.(message, extra);
      const { id } = message;
      this.#waiting.delete(id);
      // The client handles a notification in a microtask, so that a response must not overtake it.
      queueMicrotask(() => this.onmessage?.(toStrict(id, message), extra));
    };
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
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
    if (isJSONRPCRequest(message) && options.onRequestStreamEnd === undefined) return this.#ask(message, options);
    await this.#transport.send(message, options);
    if ('method' in message && message.method === 'notifications/cancelled') this.#end(message.params?.requestId);
  }

  async #ask(message: JSONRPCMessage & { readonly id: RequestId }, options: TransportSendOptions): Promise<void> {
    const { id } = message;
    const ended = new AbortController();
    this.#waiting.set(id, ended);
    const onRequestStreamEnd = () => {
      if (this.#waiting.delete(id))
        this.onmessage?.(errorResponse(id, LOST, 'the connection was closed before the response'));
    };
    const requestSignal = options.requestSignal ?? ended.signal;
    try {
      await this.#transport.send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
  }

  #end(id: unknown): void {
    const waiting = this.#waiting.get(id as RequestId);
    this.#waiting.delete(id as RequestId);
    waiting?.abort();
  }
}

/** The response, or an error if it is malformed: the client would ignore it, and its request would wait until its time limit. */
function toStrict(id: RequestId, { result, error }: { result?: unknown; error?: unknown }): JSONRPCMessage {
  const response = { jsonrpc: '2.0', id, ...(result === undefined || result === null ? { error } : { result }) };
  if (isJSONRPCResultResponse(response) || isJSONRPCErrorResponse(response)) return response;
  return errorResponse(id, INVALID, 'the answer is neither a result nor an error');
}
