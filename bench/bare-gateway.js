// The same gateway with public packages only: Hono reads and writes JSON, ajv checks the input, the official client calls the
// server over its own stdio transport. It checks no token, host, limit or size, starts nothing again, and writes no log.
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Ajv } from '@modelcontextprotocol/client/validators/ajv';
import { Hono } from 'hono';

const client = new Client({ name: 'bare-gateway', version: '1.0.0' });
const args = [fileURLToPath(new URL('./echo-server.js', import.meta.url))];
await client.connect(new StdioClientTransport({ command: process.execPath, args }));

const ajv = new Ajv({ validateSchema: false });
const { tools } = await client.listTools();
const validators = new Map(tools.map(({ name, inputSchema }) => [name, ajv.compile(inputSchema)]));

const app = new Hono();
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
// Exits by itself, so that profiles are written.
process.on('SIGTERM', () => process.exit(0));
