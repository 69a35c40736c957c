import { type Cancellable, CancelRequest } from '../../../application/answers/cancel-request.ts';
import { CANCELLED, DISCONNECTED } from '../../../application/async/deadline.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { OpenCalls } from '../../../application/tools/open-calls.ts';
import type { CallEvent } from '../../../application/tools/tool-call.ts';
import { isToolName } from '../../../domain/answers/question.ts';
import { type CallOrigin, traceContextOf } from '../../../domain/gateway/call-origin.ts';
import { isReadOnly } from '../../../domain/gateway/gateway-tool.ts';
import { isObject } from '../../../domain/values/json.ts';
import { MCP } from '../words/mcp-messages.ts';
import { excerpt, INTERRUPTED } from '../words/plain.ts';
import { NO_OPEN_QUESTION } from '../words/tool-error-messages.ts';
import type { ClientQuestions } from './client-questions.ts';
import { askableOf, capabilitiesOf, completeResult, type Era, failureForm } from './era.ts';
import {
  CALL_FAILED,
  errorMessage,
  failedAnswer,
  failedResult,
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type IncomingMessage,
  internalError,
  invalidParams,
  isRequestId,
  METHOD_NOT_FOUND,
  metaOf,
  type OutgoingMessage,
  type Params,
  type RequestId,
} from './json-rpc.ts';
import { type Request, respond, type ServerDescription } from './methods.ts';
import { takeOpen } from './retries.ts';
import type { Subscriptions } from './subscriptions.ts';
import type { Reply, Send, ToolReply } from './tool-set.ts';

export interface McpSessionOptions extends ServerDescription, Pick<Services, 'logger'> {
  readonly by: CallOrigin;
  /** Gets the events of each call. */
  readonly on?: (event: CallEvent) => void;
  /** The form in which a call in flight fails at `shutDown`, in the legacy era. */
  readonly toolErrors?: 'protocol' | 'result' | undefined;
  /** The questions to a client with a session. Undefined without sessions. */
  readonly questions?: ClientQuestions | undefined;
  /** The calls of clients of MCP 2026-07-28 that wait for an answer. */
  readonly openCalls?: OpenCalls | undefined;
  /** Undefined if no list of this session changes. */
  readonly subscriptions?: Subscriptions | undefined;
}

interface Call extends Cancellable<RequestId> {
  readonly request: Request;
  /** Sends a message about the call, unless it is over. */
  readonly send: Send;
}

type Start = (notify: Send, signal: AbortSignal) => Promise<ToolReply>;

/** The MCP session of one client, in both eras. It receives valid messages from a transport and sends messages to it. */
export class McpSession {
  readonly #options: McpSessionOptions;
  /** The IDs `1` and `"1"` are different. */
  readonly #calls = new CancelRequest<RequestId, Call>();
  #isClosed = false;

  constructor(options: McpSessionOptions) {
    this.#options = options;
  }

  /** Processes one message. Resolves when every message about it was sent; never rejects. `left`: aborted if the client leaves. */
  async receive(message: IncomingMessage, era: Era, send: Send, left?: AbortController): Promise<void> {
    const { logger, questions } = this.#options;
    if (message.kind === 'response') questions?.onResponse(message);
    else if (message.kind === 'notification') {
      logger.debug(`server: recv method=${message.method}`);
      if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    } else if (message.kind === 'request') {
      const { id, method, params } = message;
      logger.debug(`server: recv method=${method} id=${JSON.stringify(id)}`);
      if (this.#calls.has(id)) return send(errorMessage(id, { code: INVALID_REQUEST, message: MCP.sameId(id) }));
      if (params === undefined) return send(errorMessage(id, invalidParams('params must be an object')));
      const request = { id, method, params, era, by: this.#originOf(params), left };
      this.#keepDeclared(request);
      const start = this.#startOf(request, send);
      await (start === undefined ? this.#respond(request, send) : this.#run(request, send, start));
    }
  }

  /** The client cannot read any more: cancels all calls, and nothing is sent for them. */
  close(): void {
    this.#isClosed = true;
    this.endQuestions();
    for (const { id } of this.#calls.inFlight) this.#calls.execute(id, DISCONNECTED);
  }

  /** Nobody can answer questions any more. */
  endQuestions(): void {
    this.#options.questions?.close();
    this.#options.openCalls?.close();
  }

  /** The process is about to exit because of a bug: every call in flight gets an error. */
  fail(): void {
    for (const { id, send } of this.#calls.inFlight) send(errorMessage(id, INTERNAL));
  }

  /** The process is about to exit: every call in flight gets a failure, in the form of its era, and is cancelled. */
  shutDown(): void {
    for (const { request, send, controller } of this.#calls.inFlight) {
      send(this.#toResponse(request, this.#failureAtEnd(request)));
      controller.abort();
    }
  }

  #failureAtEnd({ method, params, era, by }: Request): Reply {
    const { tools, toolErrors } = this.#options;
    if (method !== 'tools/call') return { error: { code: INTERNAL.code, message: MCP.shuttingDown } };
    const form = failureForm(era, toolErrors);
    const tool = tools.list(by.rights).find(({ name }) => name === params.name);
    const message = isReadOnly({ annotations: tool?.annotations ?? {} }) ? MCP.shuttingDown : INTERRUPTED;
    if (isToolName(String(params.name))) return failedAnswer(message, form);
    return form === 'result' ? { result: failedResult(message) } : { error: { code: CALL_FAILED, message } };
  }

  async #respond(request: Request, send: Send): Promise<void> {
    const { tools, shared } = this.#options;
    const { method, by } = request;
    try {
      const isFirst = method === 'initialize' || method === 'server/discover';
      const prepared = method === 'tools/list' ? tools.prepare?.(by.rights) : undefined;
      const asked = isFirst ? tools.signIns?.(by) : undefined;
      // Nothing is awaited without servers, so that the responses have the order of the requests.
      if (prepared !== undefined) await prepared;
      const capabilities = isFirst && shared !== undefined ? await shared.capabilities(by.rights) : undefined;
      const signIns = asked === undefined ? undefined : await asked;
      send(this.#toResponse(request, respond(request, this.#options, { capabilities, signIns })));
    } catch (bug) {
      send(this.#toInternalError(request, bug));
    }
  }

  /** What a request begins that can be cancelled; undefined for any other request. */
  #startOf(request: Request, send: Send): Start | undefined {
    const { tools, shared, subscriptions, on, openCalls, questions } = this.#options;
    const { id, method, params, era, by } = request;
    const isModern = era === 'modern';
    const repeatable = isModern ? takeOpen(openCalls, request) : undefined;
    if (repeatable === 'other') return async () => ({ error: invalidParams(NO_OPEN_QUESTION) });
    if (shared?.has(method)) return (_, signal) => shared.call({ ...request, retry: repeatable?.retry }, signal);
    if (method === 'subscriptions/listen' && era === 'modern' && subscriptions !== undefined)
      return (notify, signal) => subscriptions.listen(id, params, notify, signal);
    if (method !== 'tools/call') return undefined;
    const { name, arguments: received } = params;
    const args = received ?? {};
    if (typeof name !== 'string') return async () => ({ error: invalidParams('name must be a string') });
    if (!isObject(args)) return async () => ({ error: invalidParams('arguments must be an object') });
    this.#logCall(name, args);
    const ofEra = isModern ? { repeatable, declared: askableOf(params) } : { asker: questions?.asker(send) };
    const call = { name, args, meta: metaOf(params), era, by, on, ...ofEra };
    return (notify, signal) => tools.call(call, notify, signal);
  }

  /** Servers that start later get what the client can be asked. */
  #keepDeclared({ method, params, era }: Request): void {
    const { questions } = this.#options;
    if (era === 'modern') questions?.declare(capabilitiesOf(params));
    else if (method === 'initialize') questions?.declare(isObject(params.capabilities) ? params.capabilities : {});
  }

  /** Runs a request that can be cancelled. */
  async #run(request: Request, send: Send, start: Start): Promise<void> {
    if (this.#isClosed) return;
    const { id, left: controller = new AbortController() } = request;
    const sendInFlight = (message: OutgoingMessage) => {
      // The response ends the call.
      if ('method' in message ? this.#calls.holds(call) : this.#calls.end(call)) send(message);
    };
    const call: Call = { id, controller, request, send: sendInFlight };
    this.#calls.begin(call);
    try {
      const reply = await start(sendInFlight, controller.signal);
      if (reply === 'cancelled') this.#calls.end(call);
      else sendInFlight(this.#toResponse(request, reply));
    } catch (bug) {
      sendInFlight(this.#toInternalError(request, bug));
    }
  }

  /** On stdio, each message has its own trace; over HTTP, the trace of the request is already in `by`. */
  #originOf({ _meta: meta }: Params): CallOrigin {
    const { by } = this.#options;
    const trace = by.trace === undefined ? traceContextOf(meta) : undefined;
    return trace === undefined ? by : { ...by, trace };
  }

  /** Logs only the length of a query. */
  #logCall(name: string, args: Params): void {
    const { logger } = this.#options;
    if (!logger.isDebug) return;
    const queryLen = typeof args.query === 'string' ? args.query.length : 0;
    const argsKeys = JSON.stringify(Object.keys(args));
    logger.debug(`server: tools/call name=${name} argsKeys=${argsKeys} queryLen=${queryLen}`);
  }

  #toResponse(request: Request, reply: Exclude<ToolReply, 'cancelled'>): OutgoingMessage {
    if (reply === 'unknown_tool') return this.#unknownTool(request);
    const { id, era } = request;
    if ('error' in reply) return errorMessage(id, reply.error);
    const { result } = reply;
    return { jsonrpc: '2.0', id, result: era === 'legacy' ? result : completeResult(result, this.#options.serverInfo) };
  }

  #toInternalError({ id, method }: Request, bug: unknown): OutgoingMessage {
    const { logger } = this.#options;
    logger.error(`internal error in ${method}: ${String(bug)}`);
    if (bug instanceof Error) logger.debug(bug.stack ?? '');
    return errorMessage(id, internalError(bug));
  }

  /** Cancels a request. An unknown or finished request is ignored, and so is a malformed notification. */
  #cancel({ requestId, reason }: Params): void {
    if (!isRequestId(requestId) || !this.#calls.has(requestId)) return;
    const { logger } = this.#options;
    logger.debug(`server: cancelled requestId=${requestId} reason=${typeof reason === 'string' ? reason : ''}`);
    // Clients report a time-out in many ways; a person who cancels gives another reason, or none.
    const isTimeOut = typeof reason === 'string' && /timed?[ -]?out/i.test(reason);
    this.#calls.execute(requestId, isTimeOut ? undefined : CANCELLED);
  }

  /** The error for an unknown tool, whose code depends on the era. */
  #unknownTool({ id, era, params, by }: Request): OutgoingMessage {
    const name = String(params.name);
    const data = { message: this.#options.tools.unknownTool(name, by.rights) };
    if (era === 'legacy') return errorMessage(id, { code: METHOD_NOT_FOUND, message: 'Unknown tool', data });
    return errorMessage(id, { code: INVALID_PARAMS, message: `Unknown tool: ${excerpt(name)}`, data });
  }
}
