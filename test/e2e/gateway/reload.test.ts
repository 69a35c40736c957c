import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts';
import { configure } from './servers.ts';

/** Half a second passes before a reload. */
interface Server {
  readonly name: string;
  readonly state: string;
  readonly pid?: number;
}

async function serversOf({ url }: HttpProcess): Promise<readonly Server[]> {
  const response = await fetch(new URL('/mcp/servers', url));
  return ((await response.json()) as { servers: readonly Server[] }).servers;
}

const statesOf = async (http: HttpProcess) => (await serversOf(http)).map(({ name, state }) => `${name}: ${state}`);

test('with gateway.watch, changes apply without a signal', async () => {
  const { config } = configure(['one'], { yaml: { gateway: { watch: true } } });
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  await expect.poll(() => statesOf(http)).toEqual(['one: available']);
  const valid = JSON.parse(readFileSync(config, 'utf8')) as { servers: { name: string }[] };

  writeFileSync(config, JSON.stringify({ ...valid, mistyped: 1 }));
  await expect.poll(() => http.stderr()).toContain('so nothing was changed');
  expect(await statesOf(http)).toEqual(['one: available']);

  // Another file takes its place, as editors do it.
  const [one] = valid.servers;
  writeFileSync(`${config}.new`, JSON.stringify({ ...valid, servers: [{ ...one, name: 'two' }] }));
  renameSync(`${config}.new`, config);
  await expect.poll(() => statesOf(http)).toEqual(['two: available']);
  await expect.poll(() => http.stderr().match(/was read again/g)).toHaveLength(1);

  writeFileSync(config, JSON.stringify({ ...valid, access: { local: { servers: { two: 'all' } } } }));
  await expect.poll(() => http.stderr()).toContain('access.local.servers');
  expect(await statesOf(http)).toEqual(['two: available']);
  writeFileSync(config, JSON.stringify({ ...valid, access: { local: { servers: {} } } }));
  await expect.poll(() => statesOf(http)).toEqual([]);
  await expect.poll(http.stderr).toContain('servers: one\n');

  // A file that does not exist yet.
  const lock = join(dirname(config), 'locks', 'tools.lock');
  const access = { local: { servers: 'all' } };
  writeFileSync(config, JSON.stringify({ ...valid, access, gateway: { watch: true, lock } }));
  await expect.poll(() => http.stderr()).toContain('write them with');
  mkdirSync(dirname(lock));
  writeFileSync(lock, '{"version": 1, "servers": {}}');
  await expect.poll(() => statesOf(http)).toEqual(['one: available']);

  writeFileSync(config, JSON.stringify({ ...valid, gateway: { watch: true } }));
  await expect.poll(() => http.stderr()).toContain('access, gateway.lock is missing');
  expect(await statesOf(http)).toEqual(['one: available']);
});
