import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts';
import { configure } from './servers.ts';

async function statesOf({ url }: HttpProcess): Promise<readonly string[]> {
  const response = await fetch(new URL('/mcp/servers', url));
  const { servers } = (await response.json()) as { servers: readonly { name: string; state: string }[] };
  return servers.map(({ name, state }) => `${name}: ${state}`);
}

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
});
