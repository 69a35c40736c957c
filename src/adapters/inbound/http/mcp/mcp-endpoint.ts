import type { QuotaState } from '../../../../application/quota/quota-guard.ts';
import { QUESTION_ARGUMENTS } from '../../../../domain/answers/question.ts';
import { isToolName } from '../../../../domain/answers/tool-name.ts';
import { traceContextOf } from '../../../../domain/gateway/trace-context.ts';
import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { type Era, META_PREFIX } from '../../mcp/era.ts';
import { metaOf, type OutgoingMessage, type RequestMessage, toMessage } from '../../mcp/json-rpc.ts';
import type { ServerDescription } from '../../mcp/methods.ts';
import { McpSession, type McpSessionOptions } from '../../mcp/session.ts';
import type { TaskExtension } from '../../mcp/tasks.ts';
import { toQuotaJson } from '../../words/quota-messages.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Api, Exchange, HttpContext, Route } from '../shared/exchange.ts';
import { methodNotAllowed, ofErrorObject, overloaded, type Refusal, shuttingDown } from '../shared/refusal.ts';
import { readJsonBody } from '../shared/request-body.ts';
import { runCall } from '../shared/run-call.ts';
import { openPostResponse, toRefusalMessage } from './post-response.ts';
import { checkHeaders, eraOfPost } from './protocol-headers.ts';

export type McpOptions = Pick<McpSessionOptions, 'toolErrors' | 'onUnknownTool'> & ServerDescription;

/**
 * Serves one message per POST, in either era. Every request has its own session: no state is kept between requests, and the
 * IDs of different clients are separate. A posted `notifications/cancelled` therefore cancels nothing. A client cancels by
 * closing the connection, after which nothing could read the response.
 */
export class McpEndpoint implements Api {
  readonly #context: HttpContext & McpOptions;
  readonly methods = 'POST';

  constructor(context: HttpContext & McpOptions) {
    this.#context = context;
  }

  toRefusalJson(refusal: Refusal, { id }: Exchange): string {
    return JSON.stringify(toRefusalMessage(refusal, id));
  }

  routeOf(path: string): Route | undefined {
    return path === this.#context.path ? this.#route : undefined;
  }

  readonly #route: Route = {
    methods: { POST: (exchange) => this.#post(exchange) },
    // There are no streams to GET and no sessions to DELETE. DELETE with a session ID gets 204: OpenAI's API sends it.
    otherMethods: (exchange) => {
      const { method, headers } = exchange.request;
      if (method === 'DELETE' && headers['mcp-session-id'] !== undefined) return exchange.sendEmpty(204);
      return exchange.refuse(methodNotAllowed(['POST'], REFUSALS.methodOfMcp));
    },
  };

  /** Resolves when the complete response was passed to `response`. */
  async #post(exchange: Exchange): Promise<void> {
    const received = await this.#receive(exchange);
    if (received !== undefined && !exchange.response.destroyed) await this.#respond(...received, exchange);
  }

  /**
   * The request; undefined for a message that was refused, or gets no answer. The protocol defines the order of the checks. Nothing else of
   * the body stays in memory while the request is served, because a suspended function keeps its variables.
   */
  async #receive(exchange: Exchange): Promise<readonly [RequestMessage, Era] | undefined> {
    const { entry } = exchange;
    const { headers } = exchange.request;
    const { isDraining, tasks, onUnknownTool } = this.#context;
    if (isDraining()) return void exchange.refuse(shuttingDown());
    const body = await readJsonBody(exchange, this.#context);
    if (body.isErr()) return void exchange.refuse(body.error);
    // The drain may have started while the body was received.
    if (isDraining()) return void exchange.refuse(shuttingDown());

    const message = toMessage(body.value);
    if ('id' in message) exchange.id = message.id;
    if (message.kind === 'invalid') return void exchange.refuse(ofErrorObject('VALIDATION_ERROR', message.error));
    const meta = 'params' in message ? message.params?._meta : undefined;
    if ('method' in message) entry.method = message.method;
    entry.trace = traceContextOf(meta, headers);

    const era = eraOfPost(headers, message);
    const error = checkHeaders(headers, message, era, tasks);
    if (error !== undefined) return void exchange.refuse(ofErrorObject('VALIDATION_ERROR', error));
    if (message.kind !== 'request') return void exchange.sendEmpty(202);
    return [message.method === 'tools/call' ? toKeptCall(message, tasks, onUnknownTool !== undefined) : message, era];
  }

  /** The response to a call waits until it is known what is left of the quota. */
  async #respond(message: RequestMessage, era: Era, exchange: Exchange): Promise<void> {
    const { places, metrics, tools, serverInfo, moreInstructions, tasks, shared } = this.#context;
    const { logger, toolErrors = 'protocol', onUnknownTool } = this.#context;
    const isShared = shared?.has(message.method) === true;
    if (isShared && !places.hold(exchange, 1)) return exchange.refuse(overloaded(REFUSALS.calls(places.max)));
    const respond = async () => {
      const send = openPostResponse(exchange, era, this.#context);
      const { response, entry } = exchange;
      const by = exchange.originAt('mcp');
      const observer = metrics.observe(entry);
      // To spread an object here would take up to a quarter of the time of a short request.
      const session = new McpSession({
        tools,
        serverInfo,
        moreInstructions,
        tasks,
        shared,
        logger,
        toolErrors,
        onUnknownTool,
        by,
        observer,
      });
      response.once('close', () => session.close());
      exchange.onShutDown(() => session.shutDown());
      const responses: OutgoingMessage[] = [];
      await session.receive(message, era, (sent) => {
        if ('method' in sent || entry.isShutDown) send(sent);
        else responses.push(sent);
      });
      return { send, responses };
    };
    const isCall = message.method === 'tools/call';
    const ran = isCall ? await runCall(exchange, this.#context, respond) : { value: await respond(), left: undefined };
    if (ran === undefined) return;
    const { send, responses } = ran.value;
    for (const response of responses) send(withQuota(response, ran.left));
  }
}

/**
 * A `tools/call` with what is used of it. A call may take minutes, and members that nothing reads could fill the memory until its end.
 * The arguments of other tools are theirs, and an audit has all of them.
 */
export function toKeptCall(message: RequestMessage, tasks?: TaskExtension, isAudited = false): RequestMessage {
  const { params } = message;
  if (params === undefined) return message;
  const { name, arguments: args, _meta: meta } = params;
  return {
    ...message,
    params: {
      name,
      arguments: !isAudited && isToolName(name) && isObject(args) ? pick(args, QUESTION_ARGUMENTS) : args,
      _meta: isObject(meta) ? { ...pick(meta, ['progressToken']), ...tasks?.declaredIn(meta) } : undefined,
    },
  };
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]));
}

/** Adds to a result what its caller may still use, if that is limited. */
function withQuota(message: OutgoingMessage, left: QuotaState | undefined): OutgoingMessage {
  if (left === undefined || !('result' in message)) return message;
  const { result } = message;
  const _meta = { ...metaOf(result), [`${META_PREFIX}quota`]: toQuotaJson(left) };
  return { ...message, result: { ...result, _meta } };
}
