import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { calls, reasons, says } from '../../support/conversation-items.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/run-cli.ts';
import { serveHttpRequests } from '../../support/servers/remote-servers.ts';
import { newFile } from '../files.ts';
import { conversationApi } from '../grounding/kit.ts';
import { apiEnv, textOf } from '../serve.ts';

// S60
test('a remote server gets arguments as headers over REST and MCP, in the terminal and in an answer', async () => {
  // The official server refuses calls whose headers are not as the arguments.
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'hub', version: '1.0.0' });
    const properties = {
      owner: { type: 'string', 'x-mcp-header': 'owner' },
      page: { type: 'integer', 'x-mcp-header': 'Page' },
      filter: { type: 'object', properties: { own: { type: 'boolean', 'x-mcp-header': 'Own' } } },
    } as const;
    const inputSchema = fromJsonSchema<Record<string, unknown>>({ type: 'object', properties });
    server.registerTool('find', { inputSchema, annotations: { readOnlyHint: true } }, (args) => ({
      content: [{ type: 'text', text: `found ${JSON.stringify(args)}` }],
    }));
    return server;
  });
  onTestFinished(() => handler.close());
  const http = await serveHttpRequests(toNodeHandler(handler) as Parameters<typeof serveHttpRequests>[0]);
  const servers = [{ name: 'hub', url: `${http.origin}/mcp` }];
  const config = newFile('config.yaml', JSON.stringify({ servers, grounding: { tools: { hub: 'all' } } }));
  const headers = () => {
    const all = Object.entries(http.seen.findLast(({ method }) => method === 'tools/call')?.headers ?? {});
    return Object.fromEntries(all.filter(([name]) => name.startsWith('mcp-param-')));
  };

  const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--offline', '--expose', '--config', config] });
  const input = { owner: 'Zürich', page: 3, filter: { own: true } };
  const reply = await send(new URL('/mcp/call', url).href, { body: { server: 'hub', toolName: 'find', input } });
  expect(JSON.parse(reply.text)).toMatchObject({ success: true, result: `found ${JSON.stringify(input)}` });
  const inBase64 = '=?base64?WsO8cmljaA==?=';
  expect(headers()).toEqual({ 'mcp-param-owner': inBase64, 'mcp-param-page': '3', 'mcp-param-own': 'true' });

  const params = { name: 'hub__find', arguments: { owner: 'over MCP' } };
  const { message } = await send(url, { body: legacy('tools/call', params) });
  expect(textOf(message)).toContain('found {"owner":"over MCP"}');
  expect(headers()).toEqual({ 'mcp-param-owner': 'over MCP' });

  const called = await runCli(['call', 'hub', 'find', '{"owner":"terminal"}', '--config', config]);
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('found {"owner":"terminal"}') });
  expect(headers()).toEqual({ 'mcp-param-owner': 'terminal' });

  const api = await conversationApi();
  api.script([
    [reasons('1'), calls('1', 'hub__find', { owner: 'model' })],
    [reasons('2'), says('2', 'Found.', { phase: 'final_answer' })],
  ]);
  const asked = await runCli(['ask', '--config', config, 'Who?'], { env: apiEnv(api) });
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('Found.') });
  expect(headers()).toEqual({ 'mcp-param-owner': 'model' });
});
