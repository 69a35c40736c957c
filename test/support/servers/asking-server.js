// A server of the revisions with `initialize` on standard input and output, by the official SDK, whose tools ask. `urls-first` is refused until its URL
// was visited. `outside` asks after its call has ended, and then creates `FILE.answered`: a call meanwhile would be the one that is asked. `slow` and `late`
// create `FILE.begun`, then wait for `FILE.go`: `slow` answers then, and `late` asks then.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { ASKING, ASKING_TOOLS, toResult } from './asking-tools.js';

const MORE = ['urls-first', 'outside', 'slow', 'late', 'seen', 'declared', 'taken-back', 'completes', 'exit'];

async function untilLetGo(file) {
  writeFileSync(`${file}.begun`, '');
  while (!existsSync(`${file}.go`)) await sleep(10);
}

/** Connects such a server to a transport. */
export async function connectAskingServer(transport) {
  const capabilities = { tools: {}, prompts: {} };
  const server = new Server({ name: 'asking', version: '1.0.0' }, { capabilities });
  const seen = [];
  let wasVisited = false;
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...ASKING_TOOLS, ...MORE.map((name) => ({ name, inputSchema: { type: 'object' } }))],
  }));
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [{ name: 'ask' }] }));
  const askBy = (request) => async (params, options) => {
    const answer = await request({ method: 'elicitation/create', params }, ElicitResultSchema, options);
    seen.push(answer);
    return answer;
  };
  server.setRequestHandler(GetPromptRequestSchema, async (_, extra) => {
    const answer = await askBy(extra.sendRequest)({
      message: 'Why?',
      requestedSchema: { type: 'object', properties: {} },
    });
    return { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(answer) } }] };
  });
  const more = {
    'urls-first': () => {
      if (wasVisited) return 'visited';
      wasVisited = true;
      const url = { mode: 'url', message: 'Sign in', url: 'https://example.com/first', elicitationId: 'first' };
      throw new McpError(-32042, 'URLs must be visited', { elicitations: [url] });
    },
    outside: ({ file }, _, ask) => {
      setTimeout(async () => {
        await ask({ message: 'Outside?', requestedSchema: { type: 'object', properties: {} } });
        writeFileSync(`${file}.answered`, '');
      }, 50);
      return 'done';
    },
    slow: async ({ file }) => {
      await untilLetGo(file);
      return 'slow';
    },
    late: async ({ file }, _, ask) => {
      await untilLetGo(file);
      const answer = await ask({ message: 'Late?', requestedSchema: { type: 'object', properties: {} } });
      writeFileSync(`${file}.answered`, '');
      return answer;
    },
    seen: () => seen,
    declared: () => server.getClientCapabilities() ?? {},
    'taken-back': async (_, ask) => {
      const end = new AbortController();
      setTimeout(() => end.abort('no longer needed'), 300);
      const params = { message: 'Still?', requestedSchema: { type: 'object', properties: {} } };
      return ask(params, { signal: end.signal }).catch(() => 'taken back');
    },
    completes: async (_, ask) => {
      const url = { mode: 'url', message: 'Sign in', url: 'https://example.com/c', elicitationId: 'c' };
      const answer = await ask(url);
      await server.notification({ method: 'notifications/elicitation/complete', params: { elicitationId: 'c' } });
      return answer;
    },
    exit: (_, ask) => {
      setTimeout(() => process.exit(1), 300);
      return ask({ message: 'Exit?', requestedSchema: { type: 'object', properties: {} } });
    },
  };
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, extra) => {
    const outside = askBy((...request) => server.request(...request));
    return toResult(await (ASKING[name] ?? more[name])(args, askBy(extra.sendRequest), outside));
  });
  await server.connect(transport);
}

if (process.argv[1]?.endsWith('asking-server.js')) await connectAskingServer(new StdioServerTransport());
