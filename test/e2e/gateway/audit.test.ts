import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { serve } from '../serve.ts';
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
