import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { isToolName, type ToolName } from '../../../domain/tool-name.ts';
import {
  checkEnvelope,
  checkVersion,
  claimedVersion,
  type Era,
  eraOf,
  LEGACY_VERSION,
  MODERN_VERSION,
  type ServerInfo,
  stamp,
} from './era.ts';
import {
  type ErrorObject,
  errorMessage,
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isParams,
  isRequestId,
  keyOf,
  METHOD_NOT_FOUND,
  type OutgoingMessage,
  PARSE_ERROR,
  type Params,
  type RequestId,
  readMessage,
  resultMessage,
} from './json-rpc.ts';
import { INSTRUCTIONS, toolList } from './tools.ts';

export interface McpSessionOptions {
  readonly application: Application;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly serverInfo: ServerInfo;
  /** Whether a call that failed is a JSON-RPC error, or a result with `isError`, in the legacy era (ruling 4). */
  readonly toolErrors: 'protocol' | 'result';
  /** Unique among the sessions of the process: ids of different clients never meet. */
  readonly sessionKey: string;
  /** Who the client is: identical questions of one caller share a search, those of different callers never do. */
  readonly caller: string;
  /** Longest answer, of which clients are told how large a result may be. */
  readonly maxAnswerChars: number;
}

export type Send = (message: OutgoingMessage) => void;

interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  readonly era: Era;
}

/** A call that runs. `isOver` as soon as it is owed nothing more. */
interface Call {
  isOver: boolean;
  /** One for each call: Node.js warns of many listeners on one signal. */
  readonly controller: AbortController;
  readonly fail: () => void;
}

/** How long a client may keep what never changes while the process lives (MCP 2026-07-28, caching). */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' };
const CAPABILITIES = { tools: {} };

let toolCalls: typeof import('./tool-call.ts') | undefined;

/** One client's MCP conversation, in both eras: a message in, messages out. It knows no transport. */
export class McpSession {
  readonly #options: McpSessionOptions;
  /** By id. */
  readonly #running = new Map<string, Call>();
  #isClosed = false;

  constructor(options: McpSessionOptions) {
    this.#options = options;
  }

  /** Takes one message, as JSON. Resolves when everything that it is owed has been sent; never rejects. */
  async receive(value: unknown, send: Send): Promise<void> {
    const message = readMessage(value);
    if (message.kind === 'invalid') {
      send(errorMessage(message.id, { code: INVALID_REQUEST, message: `Invalid Request: ${message.reason}` }));
    } else if (message.kind === 'notification') {
      this.#options.logger.debug(`server: recv method=${message.method}`);
      if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    } else if (message.kind === 'request') {
      this.#options.logger.debug(`server: recv method=${message.method} id=${keyOf(message.id)}`);
      await this.#answer(message.id, message.method, message.params, send);
    }
  }

  /** Answers bytes that were no JSON. */
  refuse(reason: string, send: Send): void {
    send(errorMessage(undefined, { code: PARSE_ERROR, message: `Parse error: ${reason}` }));
  }

  /** Nobody can read answers any more: stops all calls, and nothing is sent for them. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#running.values()) call.controller.abort();
  }

  /** A fault of ours ends the process: every call that still runs is answered with an error. */
  fail(): void {
    for (const call of this.#running.values()) call.fail();
  }

  async #answer(id: RequestId, method: string, params: Params | undefined, send: Send): Promise<void> {
    const era = eraOf(params);
    const refusal = this.#refusalOf(id, params, era);
    if (refusal !== undefined || params === undefined) {
      send(errorMessage(id, refusal ?? invalidParams('params must be an object')));
    } else if (method === 'tools/call') {
      await this.#callTool({ id, method, params, era }, send);
    } else {
      send(this.#respond({ id, method, params, era }));
    }
  }

  /** Why a request is not even looked at. */
  #refusalOf(id: RequestId, params: Params | undefined, era: Era): ErrorObject | undefined {
    const running = this.#running.get(keyOf(id));
    if (running !== undefined && !running.isOver) {
      return { code: INVALID_REQUEST, message: `Invalid Request: a request with id ${keyOf(id)} is still in flight` };
    }
    return era === 'modern' ? (checkEnvelope(params) ?? checkVersion(claimedVersion(params))) : undefined;
  }

  #respond({ id, method, params, era }: Request): OutgoingMessage {
    switch (`${era} ${method}`) {
      case 'legacy initialize': {
        const { serverInfo } = this.#options;
        const capabilities = CAPABILITIES;
        return resultMessage(id, {
          protocolVersion: LEGACY_VERSION,
          capabilities,
          serverInfo,
          instructions: INSTRUCTIONS,
        });
      }
      case 'legacy ping':
        return resultMessage(id, {});
      case 'modern server/discover': {
        const capabilities = CAPABILITIES;
        const discovered = {
          supportedVersions: [MODERN_VERSION],
          capabilities,
          instructions: INSTRUCTIONS,
          ...CACHING,
        };
        return resultMessage(id, stamp(discovered, era, this.#options.serverInfo));
      }
      case 'legacy tools/list':
      case 'modern tools/list': {
        if (params.cursor != null) return errorMessage(id, invalidParams('unknown cursor'));
        const tools = toolList(this.#options.maxAnswerChars);
        return resultMessage(id, stamp({ tools, ...(era === 'modern' ? CACHING : {}) }, era, this.#options.serverInfo));
      }
      case 'legacy server/discover':
        // A probe that forgot its envelope: whatever the refusal, its sender goes on with initialize.
        return errorMessage(id, checkEnvelope(params) ?? invalidParams('_meta is missing'));
      default:
        return errorMessage(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` });
    }
  }

  async #callTool(request: Request, send: Send): Promise<void> {
    const { id, params, era } = request;
    const { name } = params;
    const args = params.arguments ?? {};
    if (typeof name !== 'string') {
      send(errorMessage(id, invalidParams('name must be a string')));
    } else if (!isToolName(name)) {
      send(errorMessage(id, unknownTool(name, era)));
    } else if (!isParams(args)) {
      send(errorMessage(id, invalidParams('arguments must be an object')));
    } else {
      await this.#run(request, name, args, send);
    }
  }

  /** The call is known before the first await, so that a cancellation on the next line finds it. */
  async #run(request: Request, tool: ToolName, args: Params, send: Send): Promise<void> {
    const { id } = request;
    this.#logCall(tool, args);
    const call: Call = {
      isOver: false,
      controller: new AbortController(),
      fail: () => sendUntilOver(errorMessage(id, INTERNAL)),
    };
    const sendUntilOver: Send = (message) => {
      if (call.isOver) return;
      call.isOver = !('method' in message);
      send(message);
    };
    this.#running.set(keyOf(id), call);
    if (this.#isClosed) call.controller.abort();
    // Loaded with the first call; from then on a call is under way before the next message is read.
    toolCalls ??= await import('./tool-call.ts');
    const toolCall = { ...request, requestKey: this.#requestKey(id), tool, args };
    await toolCalls.runToolCall(toolCall, this.#options, sendUntilOver, call.controller.signal);
    if (this.#running.get(keyOf(id)) === call) this.#running.delete(keyOf(id));
  }

  /** A cancelled call is owed nothing more. One that is unknown or finished is ignored, and so is a malformed notice. */
  #cancel({ requestId, reason }: Params): void {
    if (!isRequestId(requestId)) return;
    const call = this.#running.get(keyOf(requestId));
    if (call === undefined) return;
    call.isOver = true;
    const { application, logger } = this.#options;
    logger.debug(`server: cancelled requestId=${requestId} reason=${typeof reason === 'string' ? reason : ''}`);
    application.cancelRequest({ requestKey: this.#requestKey(requestId) });
    // The application may not have been asked yet.
    call.controller.abort();
  }

  #requestKey(id: RequestId): string {
    return `${this.#options.sessionKey}/${keyOf(id)}`;
  }

  /** Only the length of a query is logged (spec 8.1). */
  #logCall(tool: string, args: Params): void {
    const queryLen = typeof args.query === 'string' ? args.query.length : 0;
    const argsKeys = JSON.stringify(Object.keys(args));
    this.#options.logger.debug(`server: tools/call name=${tool} argsKeys=${argsKeys} queryLen=${queryLen}`);
  }
}

function invalidParams(what: string): ErrorObject {
  return { code: INVALID_PARAMS, message: `Invalid params: ${what}` };
}

/** Each era has a code of its own for it (ruling 4). */
function unknownTool(name: string, era: Era): ErrorObject {
  return era === 'modern'
    ? { code: INVALID_PARAMS, message: `Unknown tool: ${name}` }
    : { code: METHOD_NOT_FOUND, message: 'Unknown tool' };
}
