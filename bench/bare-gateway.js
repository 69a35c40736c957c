// The same gateway with public packages only. REST: Hono reads and writes JSON, and ajv checks the input. MCP over HTTP, or with
// --stdio over stdio: a server of the official SDK with one session. Each call goes to the server by the official client over stdio.
// It checks no token, host, limit or size, starts nothing again, and writes no log.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Hono } from 'hono';

const client = new Client({ name: 'bare-gateway', version: '1.0.0' });
const args = [fileURLToPath(new URL('./echo-server.js', import.meta.url))];
await client.connect(new StdioClientTransport({ command: process.execPath, args }));
const { tools } = await client.listTools();

const mcp = new Server({ name: 'bare-gateway', version: '1.0.0' }, { capabilities: { tools: {} } });
mcp.setRequestHandler('tools/list', () => ({ tools }));
mcp.setRequestHandler('tools/call', ({ params }) =>
  client.callTool({ name: params.name, arguments: params.arguments }),
);

// Exits by itself, so that profiles are written.
process.on('SIGTERM', () => process.exit(0));
mcp.onclose = () => process.exit(0);
if (process.argv[2] === '--stdio') await mcp.connect(new StdioServerTransport());
else await serveHttp();

async function serveHttp() {
  const ajv = new Ajv({ validateSchema: false });
  const validators = new Map(tools.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
  });
  await mcp.connect(transport);

  const app = new Hono();
  app.all('/mcp', (context) => transport.handleRequest(context.req.raw));
  app.post('/mcp/call', async (context) => {
    const { server, toolName, input } = await context.req.json();
    const validate = server === 'echo' ? validators.get(toolName) : undefined;
    if (validate === undefined) return context.json({ success: false }, 404);
    if (!validate(input)) return context.json({ success: false, error: validate.errors }, 400);
    const { content } = await client.callTool({ name: toolName, arguments: input });
    return context.json({ success: true, result: content[0].text });
  });
  serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
    process.stderr.write(`serving MCP at http://127.0.0.1:${port}/mcp\n`);
  });
}
