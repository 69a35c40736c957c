import { expect, test } from 'vitest';
import { LoadedServers } from '../../../../src/application/gateway/loaded-servers.ts';
import { settled } from '../../../support/fake-clock.ts';
import { deferred } from '../../../support/fake-llm-search.ts';
import { gatewayOf } from '../../../support/scripted-gateway.ts';

/** Servers whose gateway the test lets load. */
function start() {
  const gateway = gatewayOf([]);
  const configured: (readonly string[])[] = [];
  const loads = [deferred<Error | undefined>(), deferred<Error | undefined>()];
  const waiting = loads.values();
  const servers = new LoadedServers<string>(async () => {
    const error = await waiting.next().value?.promise;
    if (error !== undefined) throw error;
    const reconfigure = async (names: readonly string[]) => void configured.push(names);
    return { gateway, reconfigure, warn: () => {} };
  });
  return { servers, gateway, configured, loads };
}

test('without servers, no gateway is loaded', async () => {
  const { servers } = start();
  await servers.configure([], undefined);
  expect(await servers.whenLoaded()).toBeUndefined();
  expect(servers.isLoading).toBe(false);
});

test('the gateway is loaded with the first servers, and stays when the last is removed', async () => {
  const { servers, gateway, configured, loads } = start();
  const configuring = servers.configure(['a'], undefined);
  const loaded = servers.whenLoaded();
  expect(servers.isLoading).toBe(true);
  expect(servers.gateway).toBeUndefined();
  loads[0]?.settle(undefined);
  await configuring;
  expect(await loaded).toBe(gateway);
  expect(servers.isLoading).toBe(false);
  await servers.configure([], undefined);
  expect(servers.gateway).toBe(gateway);
  expect(configured).toEqual([['a'], []]);
});

test('a gateway that cannot be loaded blocks no one, and is loaded again', async () => {
  const { servers, gateway, loads } = start();
  const failed = servers.configure(['a'], undefined);
  const loaded = servers.whenLoaded();
  loads[0]?.settle(new Error('no memory'));
  await expect(failed).rejects.toThrow('no memory');
  expect(await loaded).toBeUndefined();
  expect(servers.isLoading).toBe(false);
  const again = servers.configure(['a'], undefined);
  await settled();
  loads[1]?.settle(undefined);
  await again;
  expect(servers.gateway).toBe(gateway);
});
