import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { posixTest } from '../../support/platform.ts';
import { BUILT_PROGRAM } from '../serve.ts';

posixTest('signals')('a log whose reader is gone costs no answer', async () => {
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };
  const server = spawn(process.execPath, [BUILT_PROGRAM, '--http', '127.0.0.1:0', '--offline'], { env });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [line] = await once(createInterface(server.stderr), 'line');
  const url = /http:\S+/.exec(String(line))?.[0] ?? '';
  server.stderr.destroy();
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  for (let call = 0; call < 3; call += 1) {
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
  }
  server.kill('SIGTERM');
  expect(await once(server, 'exit')).toEqual([0, null]);
});
