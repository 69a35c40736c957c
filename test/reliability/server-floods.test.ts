import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { startGatewayProcess, stdioServer } from '../e2e/gateway/serve-gateway.ts';
import { startSessionServer } from '../support/servers/remote-servers.ts';
import { StandardTools } from '../support/servers/standard-tools.js';
import { sized } from '../support/sized.ts';

/** The heap of deploy/kubernetes.yaml. */
const [, HEAP = ''] =
  /NODE_OPTIONS, value: (.*?) }/.exec(readFileSync(new URL('../../deploy/kubernetes.yaml', import.meta.url), 'utf8')) ??
  [];
const env = { NODE_OPTIONS: HEAP };

/** Before floods were handled in parts, each call took 1 to 30 s, also on a machine that is not busy. */
const MAX_MEDIAN_MS = 500;
/** Beside the floods, which keep the gateway busy meanwhile. */
const CALLS = sized(15, 50);
const GOOD = { status: 200, body: { success: true, result: 'a' } };

const message = (text: object) => JSON.stringify({ jsonrpc: '2.0', ...text });

/** The contract suite of child servers has the others. */
const FLOODS: readonly (readonly [string, JsonObject, string])[] = [
  ['log', { line: 'INFO everything is fine' }, 'flooded its standard output'],
  ['changes', { line: message({ method: 'notifications/tools/list_changed' }) }, 'flooded its standard output'],
  // It does not read the answers.
  ['pings', { line: message({ id: 1, method: 'ping' }), isDeaf: true }, 'does not read its standard input'],
];

test('servers that flood neither delay another nor fill the memory', { timeout: 60_000 }, async () => {
  const flooding = FLOODS.map(([name]) => stdioServer(name, [], { timeout: 600_000, restart: 'never' }));
  const gateway = await startGatewayProcess(
    [stdioServer('good'), ...flooding].map(({ entry }) => entry),
    { env },
  );
  for (const [name] of FLOODS) await gateway.untilState(name, 'available');
  await gateway.call('good', 'echo', { text: 'a' });
  for (const [name, flood] of FLOODS) gateway.beginCall(name, 'repeat', flood).reply.catch(() => {});
  const times: number[] = [];
  for (let calls = 0; calls < CALLS; calls += 1) {
    const startedMs = performance.now();
    expect(await gateway.call('good', 'echo', { text: 'a' })).toMatchObject(GOOD);
    times.push(performance.now() - startedMs);
  }
  expect(times.sort((a, b) => a - b)[Math.floor(CALLS / 2)]).toBeLessThan(MAX_MEDIAN_MS);
  for (const [name, , lastError] of FLOODS) {
    expect(await gateway.untilState(name, 'failed')).toMatchObject({ lastError });
  }
  gateway.kill('SIGTERM');
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
});

describe('a list of tools without an end', () => {
  const description = 'x'.repeat(1_000_000);

  test('fails the start of a child, and nothing else', async () => {
    const servers = [stdioServer('good'), stdioServer('endless', ['endless-huge-list'], { restart: 'never' })];
    const gateway = await startGatewayProcess(
      servers.map(({ entry }) => entry),
      { env },
    );
    const { lastError } = await gateway.untilState('endless', 'failed');
    expect(lastError).toMatch(/^tools\/list failed: the list exceeds 1000 tools, 8 MiB/);
    expect(await gateway.call('good', 'echo', { text: 'a' })).toMatchObject(GOOD);
  });

  test('fails the start of a remote server, and nothing else', async () => {
    const { url } = await startSessionServer(new StandardTools().listWithoutEnd(5, description));
    const remote = { name: 'endless', url, restart: 'never' };
    const gateway = await startGatewayProcess([stdioServer('good').entry, remote], { env });
    const { lastError } = await gateway.untilState('endless', 'failed');
    expect(lastError).toMatch(/^tools\/list failed: the list exceeds 1000 tools, 8 MiB/);
    expect(await gateway.call('good', 'echo', { text: 'a' })).toMatchObject(GOOD);
  });
});
