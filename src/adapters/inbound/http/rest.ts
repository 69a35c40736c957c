import { Hono } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { err, ok } from 'neverthrow';
import { LIST_WAIT_MS } from '../../../application/gateway/gateway.ts';
import { BUILT_IN_SERVER, idOfCaller } from '../../../domain/gateway/call-origin.ts';
import { unknownServer } from '../../../domain/gateway/tool-call-error.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { refuse, sendJson } from './errors.ts';
import { toOpenApi } from './openapi.ts';
import { methodNotAllowed, ofToolCallError } from './refusal.ts';
import { type HttpEnv, type HttpRequest, originOf } from './request.ts';
import { allServers, BY_PATH, call, ENVELOPE, RestartLimit, restart, TEXT_TO_CHECK } from './rest-calls.ts';
import type { Serving } from './services.ts';

/** Headers that 304 responses also have. */
const RETAINED_HEADERS = [
  'x-request-id',
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-expose-headers',
];

/** The tools of the gateway's servers, and the answer tools, over REST. */
export function restApi(services: Serving): Hono<HttpEnv> {
  const { catalogue, checks } = services;
  const limit = new RestartLimit(services.clock);
  const app = new Hono<HttpEnv>();
  app.use('/mcp/tools', etag({ retainedHeaders: [...RETAINED_304_HEADERS, ...RETAINED_HEADERS] }));
  get(app, '/mcp/tools', services, listTools);
  get(app, '/mcp/servers', services, listServers);
  get(app, '/openapi.json', services, describeTools);
  post(app, '/mcp/call', services, (c) => call(c, services, ENVELOPE, catalogue));
  post(app, '/mcp/tools/:server/:tool', services, (c) => call(c, services, BY_PATH, catalogue));
  if (checks !== undefined) post(app, '/mcp/check', services, (c) => call(c, services, TEXT_TO_CHECK, checks));
  post(app, '/mcp/servers/:server/restart', services, (c) => restart(c, services, limit));
  return app;
}

type Handler = (c: HttpRequest, services: Serving) => Promise<Response> | Response;

function get(app: Hono<HttpEnv>, path: string, services: Serving, handle: Handler): void {
  const { places, servers } = services;
  app.get(path, async (c) => {
    if (servers.isLoading) await servers.whenLoaded();
    // A GET holds a place from here; a call gets its place when it starts.
    const handled = await places.hold(c, () => handle(c, services));
    return handled.isErr() ? refuse(c, handled.error) : handled.value;
  });
  app.all(path, (c) => refuse(c, methodNotAllowed(['GET', 'HEAD'])));
}

function post(app: Hono<HttpEnv>, path: string, services: Serving, handle: Handler): void {
  const { isDraining, servers } = services;
  app.post(path, async (c) => {
    if (isDraining()) return refuse(c, ofToolCallError({ kind: 'shutting_down' }));
    if (servers.isLoading) await servers.whenLoaded();
    return handle(c, services);
  });
  app.all(path, (c) => refuse(c, methodNotAllowed(['POST'])));
}

/** The tools of the caller, and the server whose tools are listed; `only` is null for all servers. */
async function toolsOf(c: HttpRequest, services: Serving) {
  const { servers, catalogue } = services;
  const rights = c.get('rights');
  const only = c.req.query('server') ?? null;
  const names = [...allServers(services), BUILT_IN_SERVER];
  if (only !== null && !names.filter(rights.sees).includes(only))
    return err(ofToolCallError(unknownServer(only, names, rights)));
  const visible = servers.gateway?.as(originOf(c, 'rest'));
  await visible?.whenListed(LIST_WAIT_MS, c.get('left').signal);
  await visible?.whenLooked(c.get('left').signal);
  return ok({ only, visible, tools: catalogue.toolsFor(rights) });
}

async function listTools(c: HttpRequest, services: Serving): Promise<Response> {
  const found = await toolsOf(c, services);
  if (found.isErr()) return refuse(c, found.error);
  const { redactor, answerTimeoutMs } = services;
  const { only, visible, tools } = found.value;
  const isListed = (server: string) => only === null || server === only;
  const timeoutOf = (server: string) => (server === BUILT_IN_SERVER ? answerTimeoutMs : visible?.timeoutOf(server));
  const body = {
    success: true,
    tools: tools.filter(({ server }) => isListed(server)).map((tool) => ({ ...tool, timeout: timeoutOf(tool.server) })),
    servers: (visible?.servers ?? [])
      .filter(({ name }) => isListed(name))
      .map(({ name, state, loginUrl }) => ({ name, state, loginUrl })),
  };
  // A client may keep its list, but must ask whether it has changed.
  return sendJson(c, 200, redactedJson(body, redactor.anywhere), { 'Cache-Control': 'private, no-cache' });
}

async function listServers(c: HttpRequest, services: Serving): Promise<Response> {
  const { checks, redactor, openCalls, requiresToken } = services;
  const rights = c.get('rights');
  const visible = services.servers.gateway?.as(originOf(c, 'rest'));
  await visible?.whenLooked(c.get('left').signal);
  const servers = visible?.servers ?? [];
  const canAnswer = services.canAnswer ? undefined : false;
  const canCheck = checks?.toolsFor(rights).length ? true : undefined;
  const noneAllowed = servers.length === 0 && allServers(services).length > 0 ? true : undefined;
  const openQuestions = openCalls?.questions(idOfCaller(originOf(c, 'rest')));
  const shown = servers.map((server) => ({ ...server, openQuestions: openQuestions?.get(server.name) }));
  // They name files of the machine.
  const mayReadWarnings = !requiresToken || (rights.isOperator && !rights.isForEveryone);
  const warnings = mayReadWarnings && services.warnings?.().map(cleanLine);
  const shownWarnings = warnings && warnings.length > 0 ? warnings : undefined;
  const body = { success: true, servers: shown, noneAllowed, canAnswer, canCheck, warnings: shownWarnings };
  return sendJson(c, 200, redactedJson(body, redactor.inLogs));
}

async function describeTools(c: HttpRequest, services: Serving): Promise<Response> {
  const found = await toolsOf(c, services);
  if (found.isErr()) return refuse(c, found.error);
  const { checks, version, requiresToken, redactor } = services;
  const { tools, only } = found.value;
  const [check] = checks?.toolsFor(c.get('rights')) ?? [];
  const document = toOpenApi({ tools, check, only, version, requiresToken });
  return sendJson(c, 200, redactedJson(document, redactor.anywhere));
}
