// The same work over HTTP with a bare Hono handler: tools/list reads and writes a JSON body, a call makes the same request to the
// API and reads its response. It has no checks and no log, and does not parse the response.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const app = new Hono();
let tools;
let apiRequest;

app.post('/mcp', async (context) => {
  const { id, method, params } = await context.req.json();
  if (method === 'tools/list') return context.json({ jsonrpc: '2.0', id, result: tools });
  if (method === 'bench/set') {
    ({ tools, apiRequest } = params);
    return context.json({});
  }
  const reply = await fetch(`${process.env.OPENAI_BASE_URL}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-bench-0123456789' },
    body: JSON.stringify({ ...apiRequest, input: params.arguments.query }),
  });
  const text = await reply.text();
  return context.json({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: text.slice(0, 3000) }] } });
});

// Exits by itself, so that profiles are written.
process.on('SIGTERM', () => process.exit(0));
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stderr.write(`serving MCP at http://127.0.0.1:${port}/mcp\n`);
});
