import { expect, test } from 'vitest';
import { startHttpProcess } from '../support/http-process.ts';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { newFile } from './files.ts';

test('the access log names the tool of a call during which the server died', async () => {
  const server = { name: 'mortal', command: process.execPath, args: [STDIO_SERVER, 'lists-all'], restart: 'never' };
  const config = newFile('config.yaml', JSON.stringify({ servers: [server] }));
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  const response = await fetch(new URL('/mcp/call', http.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ server: 'mortal', toolName: 'exit' }),
  });
  expect(response.status).toBe(502);
  await expect.poll(() => http.stderr()).toContain('"server":"mortal","tool":"exit","status":502,"outcome":"crashed"');
});
