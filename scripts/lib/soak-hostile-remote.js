// The hostile remote server of the soak under attack: its list of tools never ends, and its stream asks to be opened again at once.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

/** Starts it on a free port of this machine. `streams()` counts the streams that were opened. */
export async function startHostileRemote() {
  let streams = 0;
  const page = (cursor) => ({
    tools: Array.from({ length: 20 }, (_, index) => ({
      name: `t${cursor}-${index}`,
      description: 'x'.repeat(20_000),
      inputSchema: { type: 'object' },
    })),
    nextCursor: String(cursor + 1),
  });
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    if (request.method === 'GET') {
      streams += 1;
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nid: 1\ndata:\n\n');
    }
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params = {} } = await json(request).catch(() => ({}));
    if (id === undefined) return response.writeHead(202).end();
    const { protocolVersion = '2025-11-25' } = params;
    const results = {
      initialize: () => ({
        protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'endless', version: '1' },
      }),
      'tools/list': () => page(Number(params.cursor ?? 0)),
    };
    const result = results[method]?.();
    const outcome = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result };
    const headers = { 'content-type': 'application/json', 'mcp-session-id': randomUUID() };
    return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    streams: () => streams,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
