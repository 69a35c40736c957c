import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { languageOf } from '../../../domain/language.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { isToolName, type ToolName } from '../../../domain/tool-name.ts';
import {
  errorMessage,
  INTERNAL_ERROR,
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
import { ProgressReporter, type ProgressToken } from './progress-reporter.ts';
import { toErrorObject, toErrorResult, toToolResult } from './tool-result.ts';
import { INSTRUCTIONS, toolList } from './tools.ts';

/** The only revision of the `initialize` era that is spoken, whatever is asked for (ruling 2). */
export const PROTOCOL_VERSION = '2025-06-18';

export interface McpSessionOptions {
  readonly application: Application;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** Whether a call that failed is a JSON-RPC error, or a result with `isError` (ruling 4). */
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
}

/** One client's MCP conversation: a message in, messages out. It knows no transport. */
export class McpSession {
  readonly #options: McpSessionOptions;
  readonly #closing = new AbortController();
  /** Calls that run now, by id, and whether they were cancelled. */
  readonly #running = new Map<string, { isCancelled: boolean; readonly fail: () => void }>();

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
      await this.#answer(message, send);
    }
  }

  /** Answers bytes that were no JSON. */
  refuse(reason: string, send: Send): void {
    send(errorMessage(undefined, { code: PARSE_ERROR, message: `Parse error: ${reason}` }));
  }

  /** Nobody can read answers any more: stops all calls, and nothing is sent for them. */
  close(): void {
    this.#closing.abort();
  }

  /** A fault of ours ends the process: every call that still runs is answered with an error. */
  fail(): void {
    for (const call of this.#running.values()) call.fail();
  }

  async #answer(request: { id: RequestId; method: string; params: Params | undefined }, send: Send): Promise<void> {
    const { id, method, params } = request;
    if (this.#running.has(keyOf(id))) {
      const message = `Invalid Request: a request with id ${keyOf(id)} is still in flight`;
      send(errorMessage(id, { code: INVALID_REQUEST, message }));
    } else if (params === undefined) {
      send(errorMessage(id, { code: INVALID_PARAMS, message: 'Invalid params: params must be an object' }));
    } else if (method === 'tools/call') {
      await this.#callTool({ id, method, params }, send);
    } else {
      send(this.#respond({ id, method, params }));
    }
  }

  #respond({ id, method, params }: Request): OutgoingMessage {
    switch (method) {
      case 'initialize':
        return resultMessage(id, {
          protocolVersion: PROTOCOL_VERSION,
          capabilities: { tools: {} },
          serverInfo: this.#options.serverInfo,
          instructions: INSTRUCTIONS,
        });
      case 'ping':
        return resultMessage(id, {});
      case 'tools/list':
        return params.cursor == null
          ? resultMessage(id, { tools: toolList(this.#options.maxAnswerChars) })
          : errorMessage(id, { code: INVALID_PARAMS, message: 'Invalid params: unknown cursor' });
      default:
        return errorMessage(id, { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` });
    }
  }

  async #callTool({ id, params }: Request, send: Send): Promise<void> {
    const { name } = params;
    const args = params.arguments ?? {};
    if (typeof name !== 'string') {
      send(errorMessage(id, { code: INVALID_PARAMS, message: 'Invalid params: name must be a string' }));
    } else if (!isToolName(name)) {
      send(errorMessage(id, { code: METHOD_NOT_FOUND, message: 'Unknown tool' }));
    } else if (!isParams(args)) {
      send(errorMessage(id, { code: INVALID_PARAMS, message: 'Invalid params: arguments must be an object' }));
    } else {
      this.#logCall(name, args);
      const call = {
        isCancelled: false,
        fail: () => {
          if (!call.isCancelled) send(errorMessage(id, INTERNAL));
          call.isCancelled = true;
        },
      };
      this.#running.set(keyOf(id), call);
      const sendUntilCancelled: Send = (message) => {
        if (!call.isCancelled) send(message);
      };
      const reporter = this.#reporterFor(params, args, sendUntilCancelled);
      const answer = await this.#ask(id, name, args, reporter ?? UNOBSERVED);
      reporter?.finish();
      this.#running.delete(keyOf(id));
      if (answer !== undefined) sendUntilCancelled(answer);
    }
  }

  /** Progress is told only to a client that asked for it; `0` is a token like any other (ruling 18). */
  #reporterFor(params: Params, args: Params, send: Send): ProgressReporter | undefined {
    const token = isParams(params._meta) ? params._meta.progressToken : undefined;
    if (typeof token !== 'string' && !Number.isFinite(token)) return undefined;
    const language = languageOf(typeof args.query === 'string' ? args.query : '');
    return new ProgressReporter({ token: token as ProgressToken, language, clock: this.#options.clock, send });
  }

  /** The answer to a call; undefined if it is owed none. */
  async #ask(
    id: RequestId,
    tool: ToolName,
    args: Params,
    observer: SearchObserver,
  ): Promise<OutgoingMessage | undefined> {
    const { application, logger, caller } = this.#options;
    const input = { requestKey: this.#requestKey(id), caller, tool, args, observer };
    try {
      const answer = await application.answerQuery(input, this.#closing.signal);
      if (answer.isOk()) return resultMessage(id, toToolResult(answer.value));
      return answer.error.kind === 'cancelled' ? undefined : this.#failure(id, answer.error);
    } catch (bug) {
      logger.error(`a fault of this program, in tools/call: ${String(bug)}`);
      if (bug instanceof Error) logger.debug(bug.stack ?? '');
      return errorMessage(id, INTERNAL);
    }
  }

  #failure(id: RequestId, error: AnswerError): OutgoingMessage {
    const { logger, redactor, toolErrors } = this.#options;
    return toolErrors === 'result'
      ? resultMessage(id, toErrorResult(error, redactor.inLogs))
      : errorMessage(id, toErrorObject(error, logger.isDebug, redactor.inLogs));
  }

  /** A cancelled call is owed nothing more. One that is unknown or finished is ignored, and so is a malformed notice. */
  #cancel({ requestId, reason }: Params): void {
    if (!isRequestId(requestId)) return;
    const call = this.#running.get(keyOf(requestId));
    if (call === undefined) return;
    call.isCancelled = true;
    const requestKey = this.#requestKey(requestId);
    this.#options.application.cancelRequest({
      requestKey,
      requestId,
      ...(typeof reason === 'string' ? { reason } : {}),
    });
  }

  #requestKey(id: RequestId): string {
    return `${this.#options.sessionKey}/${keyOf(id)}`;
  }

  /** Only the length of a query is logged (spec 8.1). */
  #logCall(tool: string, args: Params): void {
    const queryLen = typeof args.query === 'string' ? args.query.length : 0;
    this.#options.logger.debug(
      `server: tools/call name=${tool} argsKeys=${JSON.stringify(Object.keys(args))} queryLen=${queryLen}`,
    );
  }
}

const INTERNAL = { code: INTERNAL_ERROR, message: 'Internal error' };

const UNOBSERVED = { onProgress: () => {} };
