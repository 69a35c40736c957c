import { Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { err, ok, type Result } from 'neverthrow';
import { type Gateway, LIST_WAIT_MS } from '../../../application/gateway/gateway.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { CHECK_TOOL } from '../../../domain/answers/tool-name.ts';
import { BUILT_IN_SERVER, type Rights } from '../../../domain/gateway/call-origin.ts';
import { unknownServer } from '../../../domain/gateway/tool-call-error.ts';
import { toPlainResult } from '../../../domain/gateway/tool-result.ts';
import { isObject } from '../../../domain/values/json.ts';
import { type Redactor, redactedJson } from '../../../domain/values/redaction.ts';
import { rateLimitHeaders } from '../words/quota-messages.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { type NamedCall, parseCallBody } from './call-body.ts';
import { type CallLimits, runCall } from './calls.ts';
import { answerJson, refuse, sendJson } from './errors.ts';
import { readJsonBody, typeRefusal } from './json-body.ts';
import type { Metrics } from './metrics.ts';
import { toOpenApi } from './openapi.ts';
import {
  methodNotAllowed,
  ofFailedCall,
  ofInvalidBody,
  ofToolCallError,
  ofToolError,
  type Refusal,
  refusal,
  rightRequired,
} from './refusal.ts';
import { type HttpEnv, type HttpRequest, type Middleware, originOf } from './request.ts';

export interface RestOptions {
  /** Undefined while no servers are configured. */
  readonly gateway: () => Gateway | undefined;
  /** Resolves when the gateway has been loaded; undefined while it is not being loaded. */
  readonly loading?: () => Promise<void> | undefined;
  readonly catalogue: Pick<ToolCatalogue, 'call' | 'toolsFor'>;
  /** Contains the tool that `POST /mcp/check` calls; undefined without `citations.rest`. */
  readonly checks?: Pick<ToolCatalogue, 'call' | 'toolsFor'> | undefined;
  /** The time limit of an answer. */
  readonly timeoutMs: number;
  readonly version: string;
}

interface Context extends RestOptions, CallLimits {
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  readonly requiresToken: boolean;
  readonly maxBodyBytes: number;
  readonly metrics: Pick<Metrics, 'observe' | 'onQuotaRefused'>;
  readonly clock: Clock;
  readonly redactor: Redactor;
  readonly isDraining: () => boolean;
}

/** The outcome of a call that was not refused. */
interface Reply {
  readonly status: number;
  readonly json: string;
}

/** Minimum time between two restarts of a server that operators request: each restart fails the calls of all callers on it. */
const RESTART_EVERY_MS = 10_000;

/** Headers that 304 responses also have. */
const RETAINED_HEADERS = [
  'x-request-id',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-expose-headers',
];

/** The tools of the gateway's servers, and the answer tools, over REST. */
export function restApi(context: Context): Hono<HttpEnv> {
  const { gateway, catalogue, checks, redactor, loading, places, clock, version, requiresToken, isDraining } = context;
  const app = new Hono<HttpEnv>();
  /** The time of the last restart that an operator requested, by server. */
  const restartedMs = new Map<string, number>();

  const allServers = () => gateway()?.servers.map(({ name }) => name) ?? [];
  const serversFor = (rights: Rights) => gateway()?.as(rights).servers ?? [];

  /** The tools of the caller, and the server whose tools are listed; `only` is null for all servers. */
  const listed = async (c: HttpRequest) => {
    const rights = c.get('rights');
    const only = c.req.query('server') ?? null;
    const names = [...allServers(), BUILT_IN_SERVER];
    if (only !== null && !names.filter(rights.sees).includes(only))
      return err(ofToolCallError(unknownServer(only, names, rights)));
    const visible = gateway()?.as(rights);
    await visible?.whenListed(LIST_WAIT_MS, c.get('left').signal);
    return ok({ only, visible, tools: catalogue.toolsFor(rights) });
  };

  const list = async (c: HttpRequest): Promise<Response> => {
    const found = await listed(c);
    if (found.isErr()) return refuse(c, found.error);
    const { only, visible, tools } = found.value;
    const isListed = (server: string) => only === null || server === only;
    const timeoutOf = (server: string) => (server === BUILT_IN_SERVER ? context.timeoutMs : visible?.timeoutOf(server));
    const body = {
      success: true,
      tools: tools
        .filter(({ server }) => isListed(server))
        .map((tool) => ({ ...tool, timeout: timeoutOf(tool.server) })),
      servers: (visible?.servers ?? [])
        .filter(({ name }) => isListed(name))
        .map(({ name, state }) => ({ name, state })),
    };
    // A client may keep its list, but must ask whether it has changed.
    return sendJson(c, 200, redactedJson(body, redactor.anywhere), { 'Cache-Control': 'private, no-cache' });
  };

  const describe = async (c: HttpRequest): Promise<Response> => {
    const found = await listed(c);
    if (found.isErr()) return refuse(c, found.error);
    const { headers } = c.env.incoming;
    // Each proxy may have added a value; the first is that of the client's connection.
    const isTls = /^https\b/.test([headers['x-forwarded-proto']].flat()[0] ?? '');
    const url = `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
    const { tools, only } = found.value;
    const [check] = checks?.toolsFor(c.get('rights')) ?? [];
    const document = toOpenApi({ tools, check, only, url, version, requiresToken });
    return sendJson(c, 200, redactedJson(document, redactor.anywhere));
  };

  const listServers = (c: HttpRequest): Response => {
    const rights = c.get('rights');
    const servers = serversFor(rights);
    const canAnswer = context.canAnswer ? undefined : false;
    const canCheck = checks?.toolsFor(rights).length ? true : undefined;
    const noneAllowed = servers.length === 0 && allServers().length > 0 ? true : undefined;
    const body = { success: true, servers, noneAllowed, canAnswer, canCheck };
    return sendJson(c, 200, redactedJson(body, redactor.inLogs));
  };

  /** Runs a request that counts as a call, within the limits of its caller. */
  const run = async (c: HttpRequest, call: () => Promise<Refusal | Reply>): Promise<Response> => {
    const called = await runCall(c, context, call);
    if (called.isErr()) return refuse(c, called.error);
    const { value, left } = called.value;
    const headers = left === undefined ? {} : rateLimitHeaders(left);
    if ('json' in value) return answerJson(c, value.status, value.json, headers);
    return refuse(c, { ...value, headers: { ...headers, ...value.headers } });
  };

  /** Restarts a server. This counts as a call, and is logged as one without a tool. The body is optional, and not used. */
  const restart = async (c: HttpRequest): Promise<Response> => {
    const rights = c.get('rights');
    const refused = rights.isOperator ? typeRefusal(c.env.incoming.headers) : rightRequired(REFUSALS.operator);
    if (refused !== undefined) return refuse(c, refused);
    const server = c.req.param('server') ?? '';
    return run(c, async () => {
      if (!serversFor(rights).some(({ name }) => name === server))
        return ofToolCallError(unknownServer(server, allServers(), rights));
      const nowMs = clock.elapsedMs();
      const waitMs = (restartedMs.get(server) ?? Number.NEGATIVE_INFINITY) + RESTART_EVERY_MS - nowMs;
      if (waitMs > 0) {
        const more = { details: { server }, retryAfterMs: waitMs, reason: 'restarted a moment ago' };
        return refusal('OVERLOADED', REFUSALS.earlyRestart(server, waitMs), more);
      }
      restartedMs.set(server, nowMs);
      gateway()?.restart(server);
      c.get('log').call = { server, tool: '', outcome: 'answered' };
      return { status: 202, json: '{"success":true}' };
    });
  };

  /** Calls the tool that the request names. `toBody` makes the body of the response from the result. */
  const call = async (
    c: HttpRequest,
    parse: (body: unknown) => Result<NamedCall, Refusal>,
    toolErrorStatus: number,
    toBody: (result: ReturnType<typeof toPlainResult>) => unknown,
    tools: Pick<ToolCatalogue, 'call'> = catalogue,
  ): Promise<Response> => {
    const named = (await readJsonBody(c, context.maxBodyBytes)).andThen(parse);
    if (named.isErr()) return refuse(c, named.error);
    const signal = c.get('left').signal;
    const on = context.metrics.observe(c.get('log'));
    const input = { ...named.value, by: originOf(c, 'rest'), on };
    return run(c, async () => {
      const outcome = await tools.call(input, signal);
      if (outcome.isErr()) return ofFailedCall(outcome.error, toolErrorStatus, redactor);
      const { value } = outcome;
      if (value.isError) return ofToolError(value, toolErrorStatus);
      return { status: 200, json: redactedJson(toBody(toPlainResult(value)), redactor.anywhere) };
    });
  };

  const untilLoaded: Middleware = async (_, next) => {
    await loading?.();
    return next();
  };

  const get = (path: string, handle: (c: HttpRequest) => Promise<Response> | Response) => {
    app.get(path, untilLoaded, async (c) => {
      // A GET holds a place from here; a call gets its place when it starts.
      const handled = await places.hold(c, () => handle(c));
      return handled.isErr() ? refuse(c, handled.error) : handled.value;
    });
    app.all(path, (c) => refuse(c, methodNotAllowed(['GET', 'HEAD'])));
  };
  const post = (path: string, handle: (c: HttpRequest) => Promise<Response>) => {
    app.post(path, async (c) => {
      if (isDraining()) return refuse(c, ofToolCallError({ kind: 'shutting_down' }));
      await loading?.();
      return handle(c);
    });
    app.all(path, (c) => refuse(c, methodNotAllowed(['POST'])));
  };
  app.use('/mcp/tools', etag({ retainedHeaders: [...RETAINED_304_HEADERS, ...RETAINED_HEADERS] }));
  get('/mcp/tools', list);
  get('/mcp/servers', listServers);
  get('/openapi.json', describe);
  // Returns the result in an envelope, and a tool's own error with the status 200.
  post('/mcp/call', (c) => call(c, parseCallBody, 200, (plain) => ({ success: true, ...plain })));
  // The bodies are the input and the result. Without a plain value, the result is its content blocks.
  post('/mcp/tools/:server/:tool', (c) => {
    const { server = '', tool = '' } = c.req.param();
    return call(
      c,
      (body) => parseInput(server, tool, body),
      422,
      ({ result, content }) => result ?? content ?? null,
    );
  });
  const parseText = (body: unknown) => parseInput(BUILT_IN_SERVER, CHECK_TOOL, body);
  if (checks !== undefined) post('/mcp/check', (c) => call(c, parseText, 422, ({ result }) => result, checks));
  post('/mcp/servers/:server/restart', restart);
  return app;
}

/** Reads the body of `POST /mcp/tools/{server}/{tool}`: the input of the tool. */
function parseInput(server: string, tool: string, body: unknown): Result<NamedCall, Refusal> {
  if (isObject(body)) return ok({ server, tool, args: body });
  return err(ofInvalidBody([{ path: '', message: 'must be an object: the input of the tool' }]));
}
