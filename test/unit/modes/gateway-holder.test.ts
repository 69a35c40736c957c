import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import type { Runtime } from '../../../src/bootstrap.ts';
import type { ComposedGateway, ComposeGatewayOptions } from '../../../src/compose-gateway.ts';
import { GatewayHolder } from '../../../src/modes/gateway-holder.ts';
import { deferred } from '../../support/fake-llm-search.ts';
import { startScripted } from '../../support/scripted-gateway.ts';

const HOOKS = { onCallEnded: () => {}, logSpawn: () => {} };
const SERVER: ServerEntry = {
  name: 'files',
  connection: { kind: 'child', command: 'x', args: [], cwd: '/', envs: {}, inheritEnv: [] },
  timeoutMs: 1,
  startupTimeoutMs: 1,
  restart: 'never',
  isRequired: false,
  filter: {},
  maxConcurrency: 1,
  maxResponseBytes: 1024,
  isPublic: false,
};

/** A holder whose gateway is loaded when the test says so. */
function hold() {
  const loaded = deferred<void>();
  const composed: ComposeGatewayOptions[] = [];
  const reconfigured: (readonly ServerEntry[])[] = [];
  let closes = 0;
  const gateway = startScripted({});
  const holder = new GatewayHolder(async (options): Promise<ComposedGateway> => {
    composed.push(options);
    await loaded.promise;
    return {
      gateway,
      reconfigure: async (servers) => void reconfigured.push(servers),
      close: async () => {
        closes += 1;
      },
    };
  });
  return { holder, gateway, load: () => loaded.settle(), composed, reconfigured, closes: () => closes };
}

describe('the gateway of the process', () => {
  test('is loading until it can be used', async () => {
    const { holder, gateway, load } = hold();
    expect([holder.loading, holder.gateway]).toEqual([undefined, undefined]);
    const configured = holder.configure([SERVER], HOOKS);
    const { loading } = holder;
    expect(loading).toBeInstanceOf(Promise);
    expect(holder.gateway).toBeUndefined();
    load();
    await loading;
    expect([holder.loading, holder.gateway]).toEqual([undefined, gateway]);
    await configured;
  });

  test('is not loaded without servers, but by the first reload that has some', async () => {
    const { holder, load, composed, reconfigured } = hold();
    await holder.configure([], HOOKS);
    await holder.configure([], HOOKS);
    expect([composed, holder.loading]).toEqual([[], undefined]);
    load();
    await holder.configure([SERVER], HOOKS);
    expect(composed).toMatchObject([{ servers: [SERVER] }]);
    await holder.configure([], HOOKS);
    expect(reconfigured).toEqual([[]]);
  });

  test('is loaded once, however often it is needed', async () => {
    const { holder, gateway, load, composed } = hold();
    const started = [holder.start([SERVER], HOOKS), holder.start([SERVER], HOOKS)];
    load();
    expect(await Promise.all(started)).toEqual([gateway, gateway]);
    expect(composed).toHaveLength(1);
  });

  test('that cannot be loaded is not loading for ever', async () => {
    const holder = new GatewayHolder(() => Promise.reject(new Error('no module')));
    await expect(holder.configure([SERVER], HOOKS)).rejects.toThrow('no module');
    expect([holder.loading, holder.gateway]).toEqual([undefined, undefined]);
    await holder.close();
  });

  test('is loaded again by the next that needs it, if it could not be loaded', async () => {
    let attempts = 0;
    const gateway = startScripted({});
    const holder = new GatewayHolder(async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('no module');
      return { gateway, reconfigure: async () => {}, close: async () => {} };
    });
    await expect(holder.start([SERVER], HOOKS)).rejects.toThrow('no module');
    expect(await holder.start([SERVER], HOOKS)).toBe(gateway);
  });

  test('is configured again when that has been done, and keeps what it had if it cannot be', async () => {
    const reconfigured = deferred<void>();
    const holder = new GatewayHolder(async () => ({
      gateway: startScripted({}),
      reconfigure: () => reconfigured.promise.then(() => Promise.reject(new Error('no proxy'))),
      close: async () => {},
    }));
    await holder.configure([{ ...SERVER, isPublic: true }], HOOKS);
    const runtime = { config: { gateway: {}, servers: [] } } as unknown as Runtime;
    expect((await holder.forAnswers(runtime)).isPublic('files')).toBe(true);
    const configured = holder.configure([SERVER], HOOKS);
    reconfigured.settle();
    await expect(configured).rejects.toThrow('no proxy');
    expect((await holder.forAnswers(runtime)).isPublic('files')).toBe(true);
  });

  test('is closed with the holder, even while it is being loaded', async () => {
    const { holder, load, closes } = hold();
    void holder.start([SERVER], HOOKS);
    const closed = holder.close();
    load();
    await closed;
    expect(closes()).toBe(1);
    await new GatewayHolder(() => Promise.reject(new Error('never called'))).close();
  });
});
