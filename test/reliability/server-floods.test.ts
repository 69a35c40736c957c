import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { startGatewayProcess, stdioServer } from '../e2e/gateway/serve-gateway.ts';
import { startSessionServer } from '../support/servers/remote-servers.ts';
import { StandardTools } from '../support/servers/standard-tools.js';

/** The heap of deploy/kubernetes.yaml. */
const [, HEAP = ''] =
  /NODE_OPTIONS, value: (.*?) }/.exec(readFileSync(new URL('../../deploy/kubernetes.yaml', import.meta.url), 'utf8')) ??
  [];
const env = { NODE_OPTIONS: HEAP };

/** Before floods were handled in parts, each call took 1 to 30 s, also on a machine that is not busy. */
const MAX_MEDIAN_MS = 500;
const GOOD = { status: 200, body: { success: true, result: 'a' } };

const message = (text: object) => JSON.stringify({ jsonrpc: '2.0', ...text });

/** The contract suite of child servers has the others. */
const FLOODS: readonly (readonly [string, JsonObject])[] = [
  ['lines of a log', { line: 'INFO everything is fine' }],
  ['changes of its tools', { line: message({ method: 'notifications/tools/list_changed' }) }],
  ['pings whose answers it does not read', { line: message({ id: 1, method: 'ping' }), isDeaf: true }],
];

test.for(FLOODS)(
  'a server that floods with %s neither delays another nor fills the memory',
  { timeout: 60_000 },
  async ([, flood]) => {
    const servers = [stdioServer('good'), stdioServer('flooding', [], { timeout: 600_000 })];
    const gateway = await startGatewayProcess(
      servers.map(({ entry }) => entry),
      { env },
    );
    await gateway.untilState('flooding', 'available');
    await gateway.call('good', 'echo', { text: 'a' });
    const flooding = gateway.beginCall('flooding', 'repeat', flood);
    flooding.reply.catch(() => {});
    const times: number[] = [];
    for (let calls = 0; calls < 15; calls += 1) {
      const startedMs = performance.now();
      expect(await gateway.call('good', 'echo', { text: 'a' })).toMatchObject(GOOD);
      times.push(performance.now() - startedMs);
    }
    expect(times.sort((a, b) => a - b)[7]).toBeLessThan(MAX_MEDIAN_MS);
    gateway.kill('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  },
);

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
