import { err, ok } from 'neverthrow';
import { expect } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { ChildToolServer } from '../../src/adapters/outbound/mcp-client/child-tool-server.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { parseTool } from '../../src/domain/gateway/listed-tool.ts';
import type { ToolServerError } from '../../src/domain/gateway/tool-call-error.ts';
import { parseToolResult } from '../../src/domain/gateway/tool-result.ts';
import { FakeToolServer } from '../support/fake-tool-server.ts';
import { newProcessTree, STDIO_SERVER } from '../support/process-tree.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  type RemoteServer,
  serveHttpRequests,
  startModernServer,
  startSessionServer,
  startSseServer,
} from '../support/servers/remote-servers.ts';
import { StandardTools } from '../support/servers/standard-tools.js';
import { type Beginning, describeToolServer, MAX_BYTES, type StartedToolServer } from './describe-tool-server.ts';
import { never } from './search-kit.ts';

/** Of a child process. */
const BEHAVIOURS: Readonly<Record<Beginning, readonly string[]>> = {
  normal: [],
  absent: [],
  silent: ['never-initialize'],
  endless: ['endless-list'],
};

const toError = (thrown: unknown): ToolServerError => {
  const { code, message, data } = thrown as { code: number; message: string; data?: unknown };
  return { kind: 'json_rpc', code, message, ...(data === undefined ? {} : { data }) };
};

const IDENTITY = { name: 'contract', version: '1.0.0' };

describeToolServer('the fake', async (beginning) => {
  const server = new FakeToolServer();
  const tools = new StandardTools();
  if (beginning === 'silent' || beginning === 'absent')
    server.connects.push(beginning === 'silent' ? 'hangs' : 'absent');
  tools.onChanged = () => server.last.changeTools(server.tools);
  server.list = async () => {
    const detail = 'the list exceeds 1000 tools or 1000 pages; let the server offer fewer tools';
    if (beginning === 'endless') return err({ kind: 'invalid_result', detail });
    const pages = [tools.list(), tools.list('4'), tools.list('8')].flatMap(({ tools }) => tools);
    return ok(pages.flatMap((tool) => parseTool('fake', tool) ?? []));
  };
  server.answer = async (name, args, onProgress, signal) => {
    if (name === 'big' && Number(args.size) > MAX_BYTES) return err({ kind: 'too_large', maxBytes: MAX_BYTES });
    const detail = 'the answer nests more than 1000 levels deep';
    if (name === 'big' && Number(args.depth) >= 1000) return err({ kind: 'invalid_result', detail });
    try {
      const result = parseToolResult(await tools.call(name, args, { onProgress, signal }));
      return result === undefined ? err({ kind: 'invalid_result', detail: 'no result' }) : ok(result);
    } catch (error) {
      return err(toError(error));
    }
  };
  server.capabilities = { tools: {}, prompts: {} };
  tools.onPromptsChanged = () => server.last.changeList('prompts');
  server.respond = async (method, { cursor, name, arguments: args }, signal) => {
    if (method === 'prompts/list') return ok(tools.listPrompts(cursor as string | undefined));
    try {
      return ok(await tools.getPrompt(String(name), args, signal));
    } catch (error) {
      return err(toError(error));
    }
  };
  return { server, lose: () => server.last.lose(), untilGone: () => {} };
});

describeToolServer('a child process', async (beginning) => {
  const tree = newProcessTree();
  const args = [STDIO_SERVER, tree.tag, ...BEHAVIOURS[beginning]];
  return {
    server: new ChildToolServer({
      name: 'child',
      command: beginning === 'absent' ? '/no/such/program' : process.execPath,
      args,
      cwd: process.cwd(),
      env: { PATH: String(process.env.PATH) },
      maxBytes: MAX_BYTES,
      logger: new RecordingLogger(),
      clock: new SystemClock(),
      logSpawn: () => {},
      programEnds: never(),
      identity: IDENTITY,
    }),
    lose: ({ pid }) => void process.kill(Number(pid), 'SIGKILL'),
    untilGone: () => expect(tree.pids()).toEqual([]),
  };
});

describeToolServer('a server over Streamable HTTP', (beginning) => startRemote(beginning, startModernServer, 'http'));

describeToolServer('a server over Streamable HTTP with sessions', (beginning) =>
  startRemote(beginning, startSessionServer, 'auto'),
);

describeToolServer('a server over SSE', (beginning) => startRemote(beginning, startSseServer, 'sse'));

async function startRemote(
  beginning: Beginning,
  startServer: (tools: StandardTools) => Promise<RemoteServer>,
  transport: 'auto' | 'http' | 'sse',
): Promise<StartedToolServer> {
  const tools = new StandardTools();
  if (beginning === 'endless') tools.listWithoutEnd(100);
  const peer = beginning === 'silent' ? await startSilentServer() : await startServer(tools);
  if (beginning === 'absent') await peer.lose();
  return {
    server: new RemoteToolServer({
      logger: new RecordingLogger(),
      name: 'remote',
      url: peer.url,
      transport,
      headers: {},
      maxBytes: MAX_BYTES,
      identity: IDENTITY,
      clock: new SystemClock(),
      fetch,
    }),
    lose: async () => {
      peer.forgetSessions();
      await peer.lose();
    },
    untilGone: async () => {
      await peer.untilOpen(0);
      expect([...peer.sessions.keys()]).toEqual([]);
    },
  };
}

/** Accepts requests, and never answers them. */
async function startSilentServer(): Promise<RemoteServer> {
  const http = await serveHttpRequests(() => {});
  return { ...http, url: `${http.origin}/mcp`, sessions: new Map(), forgetSessions: () => {} };
}
