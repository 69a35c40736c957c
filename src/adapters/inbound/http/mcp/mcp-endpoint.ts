import { err, ok, type Result } from 'neverthrow';
import type { QuotaState } from '../../../../application/quota/quota-guard.ts';
import { QUESTION_ARGUMENTS } from '../../../../domain/answers/question.ts';
import { isToolName } from '../../../../domain/answers/tool-name.ts';
import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { type Era, META_PREFIX } from '../../mcp/era.ts';
import { type OutgoingMessage, type RequestMessage, toMessage } from '../../mcp/json-rpc.ts';
import type { ServerDescription } from '../../mcp/methods.ts';
import { McpSession, type McpSessionOptions } from '../../mcp/session.ts';
import type { TaskExtension } from '../../mcp/tool-set.ts';
import { toQuotaJson } from '../../words/quota-messages.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Api, Exchange, HttpContext, Route } from '../shared/exchange.ts';
import { methodNotAllowed, ofErrorObject, type Refusal, shuttingDown } from '../shared/refusal.ts';
import { readJsonBody } from '../shared/request-body.ts';
import { runCall } from '../shared/run-call.ts';
import { openPostResponse, toRefusalMessage } from './post-response.ts';
import { checkHeaders, eraOfPost } from './protocol-headers.ts';

export type McpOptions = Pick<McpSessionOptions, 'toolErrors'> & ServerDescription;

interface Received {
  readonly message: RequestMessage;
  readonly era: Era;
}

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
    if (exchange.response.destroyed) return;
    if (received.isErr()) return exchange.refuse(received.error);
    if (received.value === undefined) return exchange.sendEmpty(202);
    await this.#respond(received.value, exchange);
  }

  /**
   * The request, a refusal, or undefined for a message that gets no answer. The protocol defines the order of the checks. Nothing else of
   * the body stays in memory while the request is served, because a suspended function keeps its variables.
   */
  async #receive(exchange: Exchange): Promise<Result<Received | undefined, Refusal>> {
    const { entry } = exchange;
    const { headers } = exchange.request;
    const { isDraining } = this.#context;
    if (isDraining()) return err(shuttingDown());
    const body = await readJsonBody(exchange, this.#context);
    if (body.isErr()) return err(body.error);
    // The drain may have started while the body was received.
    if (isDraining()) return err(shuttingDown());

    const message = toMessage(body.value);
    if ('id' in message) exchange.id = message.id;
    if (message.kind === 'invalid') return err(ofErrorObject('VALIDATION_ERROR', message.error));
    const meta = 'params' in message ? message.params?._meta : undefined;
    if ('method' in message) entry.method = message.method;
    entry.traceparent = readTraceparent(isObject(meta) ? meta.traceparent : undefined, headers.traceparent);

    const era = eraOfPost(headers, message);
    const { tasks } = this.#context;
    const error = checkHeaders(headers, message, era, tasks);
    if (error !== undefined) return err(ofErrorObject('VALIDATION_ERROR', error));
    if (message.kind !== 'request') return ok(undefined);
    return ok({ message: message.method === 'tools/call' ? toKeptCall(message, tasks) : message, era });
  }

  /** The response to a call waits until it is known what is left of the quota. */
  async #respond({ message, era }: Received, exchange: Exchange): Promise<void> {
    const respond = async () => {
      const send = openPostResponse(exchange, era, this.#context);
      const { tools, logger, toolErrors = 'protocol', serverInfo, moreInstructions, tasks, observe } = this.#context;
      const { response, caller, entry } = exchange;
      const described = { tools, serverInfo, moreInstructions, tasks };
      const session = new McpSession({ ...described, logger, toolErrors, caller, observer: observe(entry) });
      response.once('close', () => session.close());
      exchange.onShutDown = () => session.shutDown();
      const responses: OutgoingMessage[] = [];
      await session.receive(message, era, (sent) => {
        if ('method' in sent || exchange.entry.isShutDown) send(sent);
        else responses.push(sent);
      });
      return { send, responses };
    };
    const ran =
      message.method === 'tools/call'
        ? await runCall(exchange, this.#context, respond)
        : ok({ value: await respond(), left: undefined });
    if (ran.isErr()) return exchange.refuse(ran.error);
    const { value, left } = ran.value;
    for (const response of value.responses) value.send(withQuota(response, left));
  }
}

/**
 * A `tools/call` with what is used of it. A call may take minutes, and members that nothing reads could fill the memory until its end.
 * The arguments of other tools are theirs.
 */
export function toKeptCall(message: RequestMessage, tasks?: TaskExtension): RequestMessage {
  const { params } = message;
  if (params === undefined) return message;
  const { name, arguments: args, _meta: meta } = params;
  return {
    ...message,
    params: {
      name,
      arguments: isToolName(name) && isObject(args) ? pick(args, QUESTION_ARGUMENTS) : args,
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
  const meta = isObject(result._meta) ? result._meta : {};
  return { ...message, result: { ...result, _meta: { ...meta, [`${META_PREFIX}quota`]: toQuotaJson(left) } } };
}

/** The first valid W3C `traceparent` of the candidates. */
function readTraceparent(...candidates: readonly unknown[]): string | undefined {
  return candidates.filter((candidate) => typeof candidate === 'string').find((text) => TRACEPARENT.test(text));
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;
