import { expect, test, vi } from 'vitest';
import { startHttpProcess } from '../support/http-process.ts';
import { newFile } from './files.ts';

/** Its only tool ends the process. */
const SERVER = `
  const { createInterface } = require('node:readline');
  const tools = [{ name: 'die', inputSchema: { type: 'object' } }];
  const initialized = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'tools/call') process.exit(3);
    const result = method === 'initialize' ? initialized : { tools };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
`;

test('the access log names the tool of a call during which the server died', async () => {
  const script = newFile('server.cjs', SERVER);
  const server = { name: 'mortal', command: process.execPath, args: [script], restart: 'never' };
  const config = newFile('config.yaml', JSON.stringify({ servers: [server] }));
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  const response = await fetch(new URL('/mcp/call', http.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ server: 'mortal', toolName: 'die' }),
  });
  expect(response.status).toBe(502);
  await vi.waitFor(() =>
    expect(http.stderr()).toContain('"server":"mortal","tool":"die","status":502,"outcome":"crashed"'),
  );
});
