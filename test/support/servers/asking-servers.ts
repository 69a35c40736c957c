import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type CallToolResult,
  createMcpHandler,
  type GetPromptResult,
  type ListToolsResult,
  type ReadResourceResult,
  Server,
} from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
// @ts-expect-error: it has no types.
import { connectAskingServer } from './asking-server.js';
// @ts-expect-error: it has no types.
import { ASKING, ASKING_TOOLS, toResult } from './asking-tools.js';
import { serveHttpRequests } from './remote-servers.ts';

/** An entry of the configuration for a server of an earlier revision that asks. */
export const earlierServer = (name: string, more: object = {}) => ({
  name,
  command: process.execPath,
  args: [fileURLToPath(new URL('./asking-server.js', import.meta.url))],
  ...more,
});

/** The same over Streamable HTTP. */
export async function earlierRemote(name: string, more: object = {}) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = await serveHttpRequests(async (request, response, body) => {
    let transport = sessions.get(String(request.headers['mcp-session-id']));
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, created),
      });
      const created = transport;
      await connectAskingServer(created as Transport);
    }
    await transport.handleRequest(request, response, body);
  });
  return { name, url: `${http.origin}/mcp`, ...more };
}

interface Retried {
  readonly inputResponses?: JsonObject | undefined;
  readonly requestState?: string | undefined;
  readonly envelope?: JsonObject;
}

/** The official server reads the state by a function. */
function toRetried(mcpReq: object): Retried {
  const { inputResponses, requestState, envelope } = mcpReq as Record<string, unknown>;
  const state = typeof requestState === 'function' ? (requestState() as unknown) : requestState;
  return {
    inputResponses: inputResponses as JsonObject,
    requestState: state as string | undefined,
    envelope: envelope as JsonObject,
  };
}

/** Thrown where a tool asks: the call ends, and begins again with the answer. */
class Asks extends Error {
  readonly params: JsonObject;

  constructor(params: JsonObject) {
    super('asks');
    this.params = params;
  }
}

/** An entry for a server of MCP 2026-07-28, which keeps the earlier answers in its `requestState`. `seen` has the parameters of its calls. */
export async function modernServer(name: string, more: object = {}) {
  const seen: JsonObject[] = [];
  const run = async (
    asks: (ask: (params: JsonObject) => unknown) => unknown,
    { inputResponses, requestState }: Retried,
  ) => {
    const before = requestState === undefined ? [] : (JSON.parse(requestState) as unknown[]);
    const answers = [...before, ...Object.values(inputResponses ?? {})];
    const waiting = answers.values();
    const ask = (params: JsonObject) => {
      const { value, done } = waiting.next();
      if (done) throw new Asks({ mode: 'form', ...params });
      return value;
    };
    try {
      return await asks(ask);
    } catch (thrown) {
      if (!(thrown instanceof Asks)) throw thrown;
      const { elicitationId: _, ...params } = thrown.params;
      const inputRequests = { [`q${answers.length}`]: { method: 'elicitation/create', params } };
      return { resultType: 'input_required', inputRequests, requestState: JSON.stringify(answers) };
    }
  };
  const handler = createMcpHandler(
    () => {
      const server = new Server(
        { name: 'modern', version: '1.0.0' },
        { capabilities: { tools: {}, prompts: {}, resources: {} } },
      );
      const tools = [...ASKING_TOOLS, { name: 'samples', inputSchema: { type: 'object' } }];
      server.setRequestHandler('tools/list', () => ({ tools }) as ListToolsResult);
      server.setRequestHandler('prompts/list', () => ({ prompts: [{ name: 'ask' }] }));
      server.setRequestHandler('prompts/get', async (_, { mcpReq }) => {
        const asks = (ask: (params: JsonObject) => unknown) => ({
          messages: [
            {
              role: 'user',
              content: {
                type: 'text',
                text: JSON.stringify(ask({ message: 'Why?', requestedSchema: { type: 'object', properties: {} } })),
              },
            },
          ],
        });
        return (await run(asks, toRetried(mcpReq))) as GetPromptResult;
      });
      server.setRequestHandler('resources/list', () => ({ resources: [{ uri: 'ask://why', name: 'why' }] }));
      server.setRequestHandler('resources/read', async (_, { mcpReq }) => {
        const question = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
        const asks = (ask: (params: JsonObject) => unknown) => ({
          contents: [{ uri: 'ask://why', text: JSON.stringify(ask(question)) }],
        });
        return (await run(asks, toRetried(mcpReq))) as ReadResourceResult;
      });
      server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
        const { name: tool, arguments: args = {} } = params;
        const retried = toRetried(mcpReq);
        const { inputResponses, requestState, envelope } = retried;
        seen.push({ tool, inputResponses, requestState, envelope });
        if (tool === 'samples') {
          const request = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
          return { resultType: 'input_required', inputRequests: { s: request } } as unknown as CallToolResult;
        }
        const asks = async (ask: (params: JsonObject) => unknown) => toResult(await ASKING[tool](args, ask));
        return (await run(asks, retried)) as CallToolResult;
      });
      return server;
    },
    { legacy: 'reject' },
  );
  const http = await serveHttpRequests(toNodeHandler(handler) as Parameters<typeof serveHttpRequests>[0]);
  onTestFinished(() => handler.close());
  return { entry: { name, url: `${http.origin}/mcp`, ...more }, seen, http };
}
