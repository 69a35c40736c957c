import { expect, test } from 'vitest';
import { send } from '../../support/http-client.ts';
import { posixTest } from '../../support/platform.ts';
import { startSessionServer } from '../../support/servers/remote-servers.ts';
import { until } from '../../support/until.ts';
import { API_KEY } from '../serve.ts';
import { startGatewayProcess, stdioServer } from './serve-gateway.ts';

const GOOD = { success: true, result: 'a' };

test('a server that dies during a call fails its calls, and is started again', async () => {
  const gateway = await startGatewayProcess([stdioServer('mortal').entry]);
  const before = await gateway.untilState('mortal', 'available');
  const waiting = gateway.beginCall('mortal', 'wait');
  await gateway.untilRunning('mortal', 1);
  const died = await gateway.call('mortal', 'exit', { words: "ValueError: invalid customer: 'Erika 4711'" });
  expect(died).toMatchObject({ status: 502, body: { success: false, error: { code: 'SERVER_CRASHED' } } });
  const other = await waiting.reply;
  expect(other.status).toBe(502);
  const after = await gateway.untilState('mortal', 'available');
  expect(after).toMatchObject({ restarts: 1, lastError: 'exited with code 1; see the log' });
  expect(after.pid).not.toBe(before.pid);
  expect(await gateway.call('mortal', 'echo', { text: 'a' })).toMatchObject({ status: 200, body: GOOD });
  // What it wrote may be the input of the call.
  expect(other.text + gateway.stderr()).not.toContain('4711');
});

posixTest('signals')('SIGTERM: calls in flight are answered, others refused, and then the servers end', async () => {
  const { entry, tree } = stdioServer('server');
  const gateway = await startGatewayProcess([entry]);
  await gateway.untilState('server', 'available');
  // The first is answered as soon as the second is cancelled, which is after the signal.
  const answered = gateway.beginCall('server', 'cancelled');
  const cancelled = gateway.beginCall('server', 'wait');
  await gateway.untilRunning('server', 2);
  gateway.kill('SIGTERM');
  await expect.poll(async () => (await gateway.get('/readyz')).body.why).toBe('draining');
  const refused = await gateway.call('server', 'echo', { text: 'a' });
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'SHUTTING_DOWN' } } });
  cancelled.leave();
  expect(JSON.parse((await answered.reply).text)).toEqual({ success: true, result: '1' });
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(tree.pids()).toEqual([]);
});

posixTest('moreSignals')(
  'SIGHUP starts new servers, replaces changed ones, ends removed ones, and keeps the others',
  async () => {
    const [kept, changed] = [stdioServer('kept'), stdioServer('changed')];
    const [removed, added] = [stdioServer('removed'), stdioServer('added')];
    const gateway = await startGatewayProcess([kept.entry, changed.entry, removed.entry]);
    const before = {
      kept: await gateway.untilState('kept', 'available'),
      changed: await gateway.untilState('changed', 'available'),
    };
    await gateway.untilState('removed', 'available');
    gateway.configure([added.entry, { ...changed.entry, timeout: 1234 }, kept.entry]);
    gateway.kill('SIGHUP');
    await gateway.untilState('added', 'available');
    const after = await gateway.untilState('changed', 'available');
    expect(after.pid).not.toBe(before.changed.pid);
    expect(await gateway.untilState('kept', 'available')).toEqual(before.kept);
    await until(() => !changed.tree.pids().includes(before.changed.pid) && removed.tree.pids().length === 0);
  },
);

// S54
posixTest('cleanEnvironment')('a child gets its own environment, and none of our keys', async () => {
  const env = {
    OPENAI_API_KEY: API_KEY,
    MCP_HTTP_TOKEN_ENV: 'alice=ALICE_TOKEN,bob=BOB_TOKEN',
    ALICE_TOKEN: 'token-of-alice-0123',
    BOB_TOKEN: 'token-of-bob-4567',
    NO_PROXY: 'localhost',
    WANTED: 'yes',
    OTHER: 'no',
  };
  const servers = [
    stdioServer('some', [], { inherit_env: ['WANTED', 'MISSING'], envs: { PORT: 8080, REGION: `${'$'}{OTHER}-west` } }),
    stdioServer('all', [], { inherit_env: true }),
  ];
  const headers = { Authorization: 'Bearer token-of-alice-0123' };
  const gateway = await startGatewayProcess(
    servers.map(({ entry }) => entry),
    { env, headers },
  );
  const environmentOf = async (name: string) =>
    (await gateway.call(name, 'environment')).body.result as Readonly<Record<string, string>>;
  const names = async (name: string) => {
    const { OPENAI_RESPONSES_MCP_GATEWAY: marker, ...others } = await environmentOf(name);
    // By which this program notices that it is a server of itself, and finds what the server started.
    expect(marker).toMatch(/^[0-9a-f-]{36}$/);
    return Object.keys(others).sort();
  };
  expect(await names('some')).toEqual(['HOME', 'NO_PROXY', 'PATH', 'PORT', 'REGION', 'WANTED']);
  expect(await environmentOf('some')).toMatchObject({ PORT: '8080', REGION: 'no-west', WANTED: 'yes' });
  expect(await names('all')).toEqual(['HOME', 'MCP_HTTP_TOKEN_ENV', 'NO_PROXY', 'OTHER', 'PATH', 'WANTED']);
  // The start of each is logged, without its environment.
  for (const { entry } of servers) await gateway.untilLogged(`gateway: ${entry.name}: started `);
  for (const value of ['8080', 'no-west', API_KEY, 'token-of-']) expect(gateway.stderr()).not.toContain(value);
});

posixTest('moreSignals')('a child no longer inherits a variable that a reload makes a client secret', async () => {
  const { entry } = stdioServer('all', [], { inherit_env: true });
  const gateway = await startGatewayProcess([entry], { env: { WANTED: 'yes', CLIENT_SECRET: 'hunter2secret' } });
  const environment = async () => (await gateway.call('all', 'environment')).body.result;
  expect(await environment()).toHaveProperty('CLIENT_SECRET');
  const auth = { client_id: 'a', issuer: 'https://auth.example.com', client_secret: `${'$'}{CLIENT_SECRET}` };
  gateway.configure([entry, { name: 'remote', url: 'http://127.0.0.1:9/mcp', auth }]);
  gateway.kill('SIGHUP');
  await gateway.untilLogged('servers: all, remote');
  expect(await environment()).toMatchObject({ WANTED: 'yes' });
  expect(await environment()).not.toHaveProperty('CLIENT_SECRET');
});

posixTest('signals')("a remote server gets the configured headers, and never the caller's credentials", async () => {
  const remote = await startSessionServer();
  const token = 'token-of-alice-0123';
  const entry = { name: 'remote', url: remote.url, headers: { Authorization: `Bearer ${'$'}{REMOTE_TOKEN}` } };
  const gateway = await startGatewayProcess([entry], {
    env: { MCP_HTTP_TOKEN_ENV: 'TOKEN', TOKEN: token, REMOTE_TOKEN: 'of-the-server' },
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(await gateway.call('remote', 'echo', { text: 'a' })).toMatchObject({ status: 200, body: GOOD });
  expect(new Set(remote.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer of-the-server']));
  expect(JSON.stringify(remote.seen)).not.toContain(token);
  gateway.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect(remote.sessions.size).toBe(0);
});

// S53
test('no route adds, changes or removes a server', async () => {
  const gateway = await startGatewayProcess([stdioServer('server').entry]);
  await gateway.untilState('server', 'available');
  const body = { name: 'other', command: 'sh', args: ['-c', 'touch /tmp/never'] };
  // Node.js sends no length with the body of DELETE by itself.
  const headers = { 'Content-Length': String(JSON.stringify(body).length) };
  const statusesOf = (path: string) =>
    Promise.all(
      ['POST', 'PUT', 'PATCH', 'DELETE'].map(
        async (method) => (await send(new URL(path, gateway.url).href, { method, headers, body })).status,
      ),
    );
  expect(await statusesOf('/mcp/servers')).toEqual([405, 405, 405, 405]);
  expect(await statusesOf('/mcp/servers/server')).toEqual([404, 404, 404, 404]);
  expect(await statusesOf('/mcp/servers/other')).toEqual([404, 404, 404, 404]);
  expect((await gateway.get('/mcp/servers')).body.servers).toHaveLength(1);
});
