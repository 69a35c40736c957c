import { CancelRequest } from '../../../application/answers/cancel-request.ts';
import { CLIENT_TIMED_OUT, DISCONNECTED } from '../../../application/async/deadline.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { isObject } from '../../../domain/values/json.ts';
import { MCP } from '../words/mcp-messages.ts';
import { excerpt } from '../words/plain.ts';
import type { CallObserver } from './call-meter.ts';
import { type Era, resultMessage } from './era.ts';
import {
  CALL_FAILED,
  errorMessage,
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  type IncomingMessage,
  internalError,
  invalidParams,
  isRequestId,
  METHOD_NOT_FOUND,
  type OutgoingMessage,
  type Params,
  type RequestId,
} from './json-rpc.ts';
import { type Request, respond, type ServerDescription } from './methods.ts';
import type { Send, ToolReply } from './tool-set.ts';

export interface McpSessionOptions extends ServerDescription {
  readonly logger: Logger;
  /** The name of the client: identical questions of one caller share a search, those of different callers never do. */
  readonly caller: string;
  /** The caller is the user of this machine. */
  readonly isLocal?: boolean;
  readonly observer?: CallObserver;
  /** How the failure of a call in flight looks at `shutDown`, in the legacy era. */
  readonly toolErrors?: 'protocol' | 'result';
}

interface Call {
  readonly id: RequestId;
  readonly era: Era;
  /** Its response was sent or it was cancelled: nothing more is sent for it. */
  isOver: boolean;
  readonly send: Send;
}

/** The MCP session of one client, in both eras. It receives valid messages from a transport and sends messages to it. */
export class McpSession {
  readonly #options: McpSessionOptions;
  readonly #cancelRequest = new CancelRequest<RequestId>();
  /** By their IDs: `1` and `"1"` are different (ruling 18). */
  readonly #calls = new Map<RequestId, Call>();
  #isClosed = false;

  constructor(options: McpSessionOptions) {
    this.#options = options;
  }

  /** Takes one message. Resolves when everything was sent for it; never rejects. */
  async receive(message: IncomingMessage, era: Era, send: Send): Promise<void> {
    const { logger } = this.#options;
    if (message.kind === 'notification') {
      logger.debug(`server: recv method=${message.method}`);
      if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    } else if (message.kind === 'request') {
      const { id, method, params } = message;
      logger.debug(`server: recv method=${method} id=${JSON.stringify(id)}`);
      if (this.#calls.get(id)?.isOver === false) {
        send(errorMessage(id, { code: INVALID_REQUEST, message: MCP.sameId(id) }));
      } else if (params === undefined) send(errorMessage(id, invalidParams('params must be an object')));
      else if (method === 'tools/call') await this.#callTool({ id, method, params, era }, send);
      else await this.#respond({ id, method, params, era }, send);
    }
  }

  /** The client cannot read any more: cancels all calls, and nothing is sent for them. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#calls.values()) this.#end(call, DISCONNECTED);
  }

  /** The process is about to exit because of a bug: every call in flight gets an error. */
  fail(): void {
    for (const { id, send } of this.#calls.values()) send(errorMessage(id, INTERNAL));
  }

  /** The process is about to exit: every call in flight gets a failure, in the form of its era, and is cancelled. */
  shutDown(): void {
    const { serverInfo, toolErrors } = this.#options;
    for (const call of this.#calls.values()) {
      const result = { content: [{ type: 'text', text: MCP.shuttingDown }], isError: true };
      call.send(
        call.era === 'modern' || toolErrors === 'result'
          ? resultMessage(call, result, serverInfo)
          : errorMessage(call.id, { code: CALL_FAILED, message: MCP.shuttingDown }),
      );
      this.#end(call);
    }
  }

  async #respond(request: Request, send: Send): Promise<void> {
    const { serverInfo, tools, tasks, caller, isLocal } = this.#options;
    const { id, method, params, era } = request;
    try {
      if (method === 'tools/list') await tools.prepare?.();
      const reply = era === 'modern' ? await tasks?.respond(method, params, { caller, isLocal }) : undefined;
      if (reply === undefined) send(respond(request, this.#options));
      else send('error' in reply ? errorMessage(id, reply.error) : resultMessage(request, reply.result, serverInfo));
    } catch (bug) {
      send(this.#toInternalError(request, bug));
    }
  }

  async #callTool(request: Request, send: Send): Promise<void> {
    const { tools, caller, isLocal, observer } = this.#options;
    const { id, params, era } = request;
    const { name, arguments: received, _meta: meta } = params;
    const args = received ?? {};
    if (this.#isClosed) return;
    if (typeof name !== 'string') return send(errorMessage(id, invalidParams('name must be a string')));
    if (!isObject(args)) return send(errorMessage(id, invalidParams('arguments must be an object')));

    const call: Call = {
      id,
      era,
      isOver: false,
      send: (message) => {
        if (call.isOver) return;
        call.isOver = !('method' in message);
        send(message);
      },
    };
    const toolCall = { name, args, meta: isObject(meta) ? meta : {}, era, caller, isLocal, observer };
    await this.#cancelRequest.run(id, async (signal) => {
      const reply = tools.call(toolCall, call.send, signal);
      if (reply === undefined) return send(this.#unknownTool(request, name));
      this.#logCall(name, args);
      this.#calls.set(id, call);
      const response = await this.#toResponse(request, name, reply);
      if (response !== undefined) call.send(response);
      // A cancelled call may end after another has its ID.
      if (this.#calls.get(id) === call) this.#calls.delete(id);
    });
  }

  /** Of a query, only the length is logged (spec 8.1). */
  #logCall(name: string, args: Params): void {
    const { logger } = this.#options;
    if (!logger.isDebug) return;
    const queryLen = typeof args.query === 'string' ? args.query.length : 0;
    const argsKeys = JSON.stringify(Object.keys(args));
    logger.debug(`server: tools/call name=${name} argsKeys=${argsKeys} queryLen=${queryLen}`);
  }

  /** The response to a call; undefined for a cancelled call, which gets none. */
  async #toResponse(request: Request, name: string, reply: Promise<ToolReply>): Promise<OutgoingMessage | undefined> {
    try {
      const outcome = await reply;
      if (outcome === 'cancelled') return undefined;
      if (outcome === 'unknown_tool') return this.#unknownTool(request, name);
      if ('error' in outcome) return errorMessage(request.id, outcome.error);
      return resultMessage(request, outcome.result, this.#options.serverInfo);
    } catch (bug) {
      return this.#toInternalError(request, bug);
    }
  }

  #toInternalError({ id, method }: Request, bug: unknown): OutgoingMessage {
    const { logger } = this.#options;
    logger.error(`internal error in ${method}: ${String(bug)}`);
    if (bug instanceof Error) logger.debug(bug.stack ?? '');
    return errorMessage(id, internalError(bug));
  }

  #end(call: Call, reason?: string): void {
    call.isOver = true;
    this.#cancelRequest.execute(call.id, reason);
  }

  /** An unknown or finished request is ignored, and so is a malformed notification. */
  #cancel({ requestId, reason }: Params): void {
    if (!isRequestId(requestId)) return;
    const call = this.#calls.get(requestId);
    if (call === undefined) return;
    const { logger } = this.#options;
    logger.debug(`server: cancelled requestId=${requestId} reason=${typeof reason === 'string' ? reason : ''}`);
    // Clients say so in many ways; a person who cancels gives another reason, or none (ruling K7).
    const isTimeOut = typeof reason === 'string' && /timed?[ -]?out/i.test(reason);
    this.#end(call, isTimeOut ? CLIENT_TIMED_OUT : undefined);
  }

  /** The code depends on the era (ruling 4). */
  #unknownTool({ id, era }: Request, name: string): OutgoingMessage {
    const data = { message: this.#options.tools.unknownTool(name) };
    return errorMessage(
      id,
      era === 'modern'
        ? { code: INVALID_PARAMS, message: `Unknown tool: ${excerpt(name)}`, data }
        : { code: METHOD_NOT_FOUND, message: 'Unknown tool', data },
    );
  }
}
