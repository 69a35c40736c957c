import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { HOME_VARIABLE, posixTest } from '../../support/platform.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { sized } from '../../support/sized.ts';
import { newFile, newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';
import { startGatewayProcess, stdioServer } from './serve-gateway.ts';

const GOOD = { status: 200, body: { success: true, result: 'a' } };

posixTest('shell')('however servers misbehave at their start, the others work, and no process is left', async () => {
  const shell = (script: string) => ({ command: '/bin/sh', args: ['-c', script] });
  const wrapped = stdioServer('wrapped', ['stubborn']);
  const line = [wrapped.entry.command, ...(wrapped.entry.args as readonly string[])].join(' ');
  const working = [
    stdioServer('stubborn', ['stubborn']),
    stdioServer('parent', ['with-children']),
    { ...wrapped, entry: { name: 'wrapped', ...shell(`${line}; true`) } },
  ];
  const failing = [
    stdioServer('never-answers', ['never-initialize'], { startup_timeout: 200 }),
    stdioServer('exits-early', ['exit-early'], { restart: 'never' }),
    stdioServer('lists-without-end', ['endless-list'], { restart: 'never' }),
    { entry: { name: 'not-there', command: '/no/such/program', restart: 'never' }, tree: stdioServer('-').tree },
  ];
  const servers = [...working, ...failing];
  const gateway = await startGatewayProcess(servers.map(({ entry }) => entry));
  for (const { entry } of working) expect(await gateway.call(entry.name, 'echo', { text: 'a' })).toMatchObject(GOOD);
  const reasons = await Promise.all(
    failing.map(async ({ entry }) => (await gateway.untilState(entry.name, 'failed', 'unavailable')).lastError),
  );
  expect(reasons).toEqual([
    'no list of tools within 0.2 s (startup_timeout)',
    'exited with code 3: no configuration found',
    expect.stringMatching(/^tools\/list failed: the list exceeds 1000 tools/),
    'cannot start /no/such/program (ENOENT); check its command and cwd',
  ]);
  gateway.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(servers.filter(({ tree }) => tree.pids().length > 0).map(({ entry }) => entry.name)).toEqual([]);
});

/** The tool of the server, its input, the result or error of the call, and how often the server is started again. */
const FAULTS: Readonly<Record<string, readonly [string, JsonObject, string, number]>> = {
  crashes: ['kill', {}, 'SERVER_CRASHED', 1],
  'prints-to-standard-output': ['repeat', { line: 'INFO all is well', times: 20_000 }, 'repeated', 0],
  'answers-with-much': ['huge', { size: sized(20e6, 200e6) }, 'RESPONSE_TOO_LARGE', 0],
  'answers-nothing': ['nothing', {}, 'TIMEOUT_ERROR', 0],
  'sends-malformed-json': ['malformed', {}, 'INVALID_RESPONSE', 0],
};

test('whatever a server does during a call, that call alone fails, and the server works afterwards', async () => {
  const names = Object.keys(FAULTS);
  const gateway = await startGatewayProcess(['good', ...names].map((name) => stdioServer(name).entry));
  await Promise.all(names.map((name) => gateway.untilState(name, 'available')));
  const outcomes = await Promise.all(
    Object.entries(FAULTS).map(async ([name, [tool, input, expected]]) => {
      const { body } = await gateway.call(name, tool, input, expected === 'TIMEOUT_ERROR' ? 200 : undefined);
      expect(await gateway.call('good', 'echo', { text: 'a' })).toMatchObject(GOOD);
      const { restarts } = await gateway.untilState(name, 'available');
      expect(await gateway.call(name, 'echo', { text: 'a' })).toMatchObject(GOOD);
      // A long answer would fill the report of a failure.
      const outcome = String(body.result ?? (body.error as JsonObject).code).slice(0, 30);
      return [name, [tool, input, outcome, restarts]] as const;
    }),
  );
  expect(Object.fromEntries(outcomes)).toEqual(FAULTS);
});

test('a remote server that answers a call without an end fails only that call', async () => {
  const remote = await startModernServer();
  const gateway = await startGatewayProcess([{ name: 'remote', url: remote.url }]);
  await gateway.untilState('remote', 'available');
  remote.answerNext('tools/call', async (_, response) => {
    const closed = once(response, 'close');
    const headers = { 'Content-Type': 'application/json' };
    response.writeHead(200, headers).write('{"jsonrpc":"2.0","id":1,"result":{"a":"');
    const chunk = Buffer.alloc(1_000_000, 'x');
    while (!response.destroyed) if (!response.write(chunk)) await Promise.race([closed, once(response, 'drain')]);
  });
  const { body } = await gateway.call('remote', 'echo', { text: 'a' });
  expect(body.error).toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
  expect(await gateway.call('remote', 'echo', { text: 'a' })).toMatchObject(GOOD);
  expect(await gateway.untilState('remote', 'available')).toMatchObject({ restarts: 0 });
});

test('a server that lists 1,000 tools offers them', async () => {
  const gateway = await startGatewayProcess([stdioServer('many', ['lists-1000']).entry]);
  expect(await gateway.untilState('many', 'available')).toMatchObject({ tools: 1000 });
});

posixTest('shell')(
  'on a full disk, calls work without a log or a kept list, and those that must be recorded are refused',
  () => {
    const folder = newFolder();
    /** As on a full disk, each write to a file fails. */
    const run = (args: readonly string[], input = '') => {
      const script = 'ulimit -f 0; exec "$0" "$@"';
      const env = { PATH: process.env.PATH, [HOME_VARIABLE]: folder };
      return spawnSync('sh', ['-c', script, process.execPath, BUILT_PROGRAM, ...args], {
        env,
        input,
        encoding: 'utf8',
      });
    };
    const servers = [stdioServer('one').entry];
    const call = (config: object) =>
      run(['call', 'one', 'echo', '{"text":"a"}', '--config', newFile('config.yaml', JSON.stringify(config))]);
    const called = call({ servers });
    expect(called).toMatchObject({ status: 0, stdout: 'a\n' });
    expect(called.stderr).toMatch(/^\S+ \S+ WARN gateway: the lists of servers cannot be kept in \S+ \(EFBIG\), .*\n$/);
    const refused = call({ servers, audit: { file: join(folder, 'audit.jsonl') } });
    expect(refused).toMatchObject({ status: 1, stdout: '' });
    expect(refused.stderr).toMatch(/audit: the file cannot be written: EFBIG.*CALL_UNRECORDED/s);
    const logs = run(['--stdio', `--debug=${join(folder, 'debug.log')}`], '{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    expect(logs).toMatchObject({ status: 0, stdout: '{"jsonrpc":"2.0","id":1,"result":{}}\n' });
  },
);
