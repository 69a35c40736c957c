import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { newFile } from '../files.ts';
import { BUILT_PROGRAM, serve } from '../serve.ts';
import { configure } from './servers.ts';

type Line = Readonly<Record<string, unknown>>;

function configureAudit(more: object = {}) {
  const { config, started } = configure(['one'], {
    yaml: { audit: { file: 'audit.jsonl' }, llm: { adapter: 'offline' }, ...more },
  });
  const file = join(dirname(config), 'audit.jsonl');
  const lines = () =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  return { config, started, file, lines };
}

test('in the terminal, each call has a line, and none is made while the file cannot be written', async () => {
  const access = { local: { servers: { one: ['echo'] }, answers: ['answer'] } };
  const { config, file, lines } = configureAudit({ access });
  const call = (tool: string) => runCli(['call', 'one', tool, '{"message":"x"}', '--config', config]);
  const ask = () => runCli(['ask', 'Nothing is recorded for this question', '--config', config]);
  const ran = [await call('echo'), await call('sum'), await ask()];
  expect(ran.map(({ code }) => code)).toEqual([0, 1, 1]);
  const id = expect.stringMatching(/^[\da-f-]{36}$/);
  const by = { id, caller: 'local', door: 'cli' };
  expect(lines()).toMatchObject([
    { ...by, server: 'one', tool: 'echo', outcome: 'answered' },
    { ...by, server: 'one', tool: 'sum', outcome: 'denied' },
    { ...by, server: 'openai-responses-mcp', tool: 'answer', outcome: 'not_recorded' },
  ]);

  renameSync(file, `${file}.1`);
  mkdirSync(file);
  const [refused, unanswered, doctor] = await Promise.all([
    call('echo'),
    ask(),
    runCli(['doctor', '--config', config]),
  ]);
  for (const { code, stdout, stderr } of [refused, unanswered]) {
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/audit: the file cannot be written: EISDIR[^\n]*\nAUDIT_UNAVAILABLE: [^\n]+\n$/);
  }
  expect(doctor.stdout).toContain(`FAIL  audit: ${file} cannot be written: EISDIR`);
});

test('on stdio, a call of a server that `local` may not use is denied, and the server is not started', async () => {
  const access = { local: { servers: {} } };
  const { config, lines, started } = configureAudit({ access });
  const server = serve({ args: ['--stdio', '--expose', '--config', config] });
  await server.initialize();
  for (const name of ['one__echo', 'two__echo']) await server.callTool(name, {});
  server.closeStdin();
  await server.exited;
  expect(lines()).toMatchObject([
    { server: 'one', tool: 'echo', outcome: 'denied', door: 'stdio' },
    { tool: 'two__echo', outcome: 'unknown_tool', door: 'stdio' },
  ]);
  expect(started()).toEqual([]);
});

posixTest('moreSignals')(
  'over HTTP, SIGHUP opens the file again, also with a configuration that has problems',
  async () => {
    const { config, file, lines } = configureAudit();
    const { url, kill } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
    const call = () => send(new URL('/mcp/call', url).href, { body: { server: 'none', toolName: 'x' } });
    await call();
    renameSync(file, `${file}.1`);
    writeFileSync(config, 'audit: 1');
    kill('SIGHUP');
    await expect.poll(() => existsSync(file)).toBe(true);
    await call();
    expect(lines()).toMatchObject([
      { server: 'none', tool: 'x', outcome: 'unknown_server', caller: 'local', door: 'rest' },
    ]);
  },
);

posixTest('signals')('a process that is killed during a call leaves a line that the call was sent', async () => {
  const { config, lines } = configureAudit();
  const { url, kill } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  const called = send(new URL('/mcp/tools/one/wait', url).href, { body: {} }).catch(() => undefined);
  await expect.poll(() => lines().length).toBe(1);
  kill('SIGKILL');
  await called;
  expect(lines()).toMatchObject([{ server: 'one', tool: 'wait', outcome: 'begun', door: 'rest' }]);
});

posixTest('shell')('over HTTP, the lines can go to standard output, as containers log', async () => {
  const { config } = configure(['one'], { yaml: { audit: { file: '/dev/stdout' } } });
  // A container has a pipe or a file there; the standard streams of Node.js are sockets.
  const output = newFile('stdout.log', '');
  const port = await freePort();
  const script = 'exec "$0" "$@" >> "$OUTPUT"';
  const env = { PATH: process.env.PATH, HOME: dirname(output), OUTPUT: output };
  const child = spawn(
    'sh',
    ['-c', script, process.execPath, BUILT_PROGRAM, `--http=127.0.0.1:${port}`, '--config', config],
    {
      env,
      stdio: 'ignore',
    },
  );
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const url = `http://127.0.0.1:${port}`;
  const ready = async () => (await send(`${url}/readyz`, { method: 'GET' }).catch(() => undefined))?.status;
  await expect.poll(ready).toBe(200);
  const body = { server: 'one', toolName: 'echo', input: { message: 'a' } };
  expect((await send(`${url}/mcp/call`, { body })).status).toBe(200);
  const lines = readFileSync(output, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ tool: 'echo', outcome: 'answered' }]);
});
