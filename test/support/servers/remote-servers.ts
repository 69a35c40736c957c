import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server as LegacyServer } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  type CallToolResult,
  createMcpHandler,
  type GetPromptResult,
  type ListPromptsResult,
  type ListToolsResult,
  Server,
} from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { until } from '../until.ts';
import { StandardTools } from './standard-tools.js';

/** A request that a server of a test has received. */
interface SeenRequest {
  /** The method of the JSON-RPC message in the body, otherwise that of HTTP. */
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The `_meta` of the message. */
  readonly meta: object | undefined;
}

interface SentMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: object };
}

type Handler = (request: IncomingMessage, response: ServerResponse, body: unknown) => unknown;
/** `proceed` lets the server answer after all; `id` is that of the JSON-RPC request. */
export type Answer = (request: IncomingMessage, response: ServerResponse, proceed: () => void, id: unknown) => void;

type Guard = (request: IncomingMessage, response: ServerResponse, body: unknown) => boolean | Promise<boolean>;

/** An HTTP server of one test. */
export interface TestHttpServer {
  readonly origin: string;
  readonly seen: readonly SeenRequest[];
  /** Answers the next requests with this method (see `seen`), or any, one request each. */
  answerNext(method: string, ...answers: readonly Answer[]): void;
  /** From now on, `guard` answers the requests that it does not let pass. */
  protect(guard: Guard): void;
  /** Resolves when so many requests are being answered, including event streams. */
  untilOpen(count: number): Promise<void>;
  /** Cuts every connection. */
  cut(): void;
  /** Cuts every connection, and refuses new ones. */
  lose(): Promise<void>;
}

export async function serveHttpRequests(handler: Handler): Promise<TestHttpServer> {
  const seen: SeenRequest[] = [];
  let guard: Guard = () => true;
  const next: { readonly method: string; readonly answer: Answer }[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    const text = await readText(request);
    const body = text === '' ? undefined : (JSON.parse(text) as SentMessage);
    const method = body?.method ?? request.method ?? '';
    seen.push({ method, headers: request.headers, meta: body?.params?._meta });
    const index = next.findIndex((planned) => planned.method === 'any' || planned.method === method);
    const [planned] = index < 0 ? [] : next.splice(index, 1);
    const proceed = async () => {
      if (await guard(request, response, body)) handler(request, response, body);
    };
    if (planned === undefined) await proceed();
    else planned.answer(request, response, proceed, body?.id);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const lose = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(lose);
  return {
    protect: (by) => {
      guard = by;
    },
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answerNext: (method, ...answers) => void next.push(...answers.map((answer) => ({ method, answer }))),
    untilOpen: (count) => until(() => open.size === count),
    cut: () => server.closeAllConnections(),
    lose,
  };
}

/** An MCP server of one test that is used over HTTP. */
export interface RemoteServer extends TestHttpServer {
  readonly url: string;
  /** The sessions that have not been ended; none without sessions. */
  readonly sessions: ReadonlyMap<string, unknown>;
  /** No longer knows any session, as after a restart. */
  forgetSessions(): void;
}

/** MCP 2026-07-28 over Streamable HTTP, by the official server. */
export async function startModernServer(tools = new StandardTools()): Promise<RemoteServer> {
  const handler = createMcpHandler(
    () => {
      const server = new Server(INFO, CAPABILITIES);
      server.setRequestHandler('tools/list', ({ params }) => tools.list(params?.cursor) as unknown as ListToolsResult);
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const { name, arguments: args = {}, _meta } = params;
        const progressToken = (_meta ?? mcpReq._meta)?.progressToken;
        const onProgress = async (progress: object) => {
          if (progressToken === undefined) return;
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: 0, ...progress },
          });
        };
        return (await tools.call(name, args, { onProgress, signal: mcpReq.signal })) as CallToolResult;
      });
      server.setRequestHandler('prompts/list', ({ params }) => tools.listPrompts(params?.cursor) as ListPromptsResult);
      server.setRequestHandler(
        'prompts/get',
        ({ params: { name, arguments: args } }, { mcpReq }) =>
          tools.getPrompt(name, args, mcpReq.signal) as Promise<GetPromptResult>,
      );
      return server;
    },
    { legacy: 'reject' },
  );
  tools.onChanged = () => handler.notify.toolsChanged();
  tools.onPromptsChanged = () => handler.notify.promptsChanged();
  const http = await serveHttpRequests(toNodeHandler(handler) as Handler);
  onTestFinished(() => handler.close());
  return { ...http, url: `${http.origin}/mcp`, sessions: new Map(), forgetSessions: () => {} };
}

/** MCP 2025-11-25 over Streamable HTTP with sessions, by the official server of that time. */
export async function startSessionServer(tools = new StandardTools()): Promise<RemoteServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = await serveHttpRequests(async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(String(id));
    if (transport === undefined) {
      if (id !== undefined) return response.writeHead(404).end();
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, created),
        onsessionclosed: (id) => void sessions.delete(id),
      });
      const created = transport;
      await connectLegacyServer(tools, created as Transport);
    }
    await transport.handleRequest(request, response, body);
  });
  return { ...http, url: `${http.origin}/mcp`, sessions, forgetSessions: () => sessions.clear() };
}

/** MCP 2024-11-05 over SSE, by the official server of that time. */
export async function startSseServer(tools = new StandardTools()): Promise<RemoteServer> {
  const sessions = new Map<string, SSEServerTransport>();
  const http = await serveHttpRequests(async (request, response, body) => {
    if (request.method === 'GET' && request.url === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, transport);
      response.once('close', () => sessions.delete(transport.sessionId));
      return connectLegacyServer(tools, transport);
    }
    const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId');
    const transport = sessions.get(String(id));
    if (transport === undefined) return response.writeHead(id === null ? 405 : 404).end();
    await transport.handlePostMessage(request, response, body);
  });
  return { ...http, url: `${http.origin}/sse`, sessions, forgetSessions: () => sessions.clear() };
}

const INFO = { name: 'remote-server', version: '1.2.3' };
const CAPABILITIES = { capabilities: { tools: { listChanged: true }, prompts: { listChanged: true } } };

async function connectLegacyServer(tools: StandardTools, transport: Transport): Promise<void> {
  const server = new LegacyServer(INFO, CAPABILITIES);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => tools.list(params?.cursor));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { sendNotification, signal }) => {
    const progressToken = params._meta?.progressToken;
    const onProgress = async (progress: object) => {
      if (progressToken === undefined) return;
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: 0, ...progress },
      });
    };
    return tools.call(params.name, params.arguments ?? {}, { onProgress, signal });
  });
  server.setRequestHandler(
    ListPromptsRequestSchema,
    ({ params }) => tools.listPrompts(params?.cursor) as ListPromptsResult,
  );
  server.setRequestHandler(
    GetPromptRequestSchema,
    ({ params: { name, arguments: args } }, { signal }) =>
      tools.getPrompt(name, args, signal) as Promise<GetPromptResult>,
  );
  tools.onChanged = () => void server.sendToolListChanged();
  tools.onPromptsChanged = () => void server.sendPromptListChanged();
  await server.connect(transport);
}
