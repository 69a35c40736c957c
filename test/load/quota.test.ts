import { createClient } from '@redis/client';
import { expect, onTestFinished, test } from 'vitest';
import { newFile } from '../e2e/files.ts';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { describeWithRedis, startRedisServer } from '../support/redis-server.ts';
import { runCli } from '../support/run-cli.ts';

const PASSWORD = 'hunter2/p@ssword';
const TOKEN = 'alice-token-0123456789';

const post = (url: string, query = 'q') =>
  send(url, {
    body: legacy('tools/call', { name: 'answer', arguments: { query } }),
    headers: { Authorization: `Bearer ${TOKEN}` },
  });

async function startStore(file: string) {
  const store = await startRedisServer(file, { password: PASSWORD });
  onTestFinished(() => store.stop());
  return store;
}

describeWithRedis('processes with one store of quotas', (file) => {
  test('admit exactly as many parallel calls as the limit, also after a restart', async () => {
    const { url } = await startStore(file);
    const api = await fakeApi();
    const held = holds();
    api.replyAlways(held);
    const config = newFile('config.yaml', 'http: { token_env: { alice: TOKEN_ALICE }, quota: { calls_per_day: 9 } }');
    const env = { ...apiEnv(api), TOKEN_ALICE: TOKEN, MCP_HTTP_QUOTA_STORE: `${url}/5` };
    const start = () => startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
    const replicas = await Promise.all([start(), start()]);
    const calls = replicas.flatMap((replica) => Array.from({ length: 12 }, (_, at) => post(replica.url, `${at}`)));
    // None has ended, so that the limit can only be kept by counting before they run.
    await api.waitForRequests(9);
    held.release(answers('Here.'));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(9).fill(200), ...Array(15).fill(429)]);
    expect(api.requests).toHaveLength(9);
    for (const replica of [...replicas, await start()]) {
      expect((await post(replica.url)).message.error?.message).toContain('Daily quota reached (calls_per_day: 9)');
      expect(replica.stderr()).not.toContain(PASSWORD);
      expect(replica.stderr()).not.toContain('quota: ');
    }
  });

  // S84
  test('exceed a budget at most by the calls in flight', async () => {
    const { url } = await startStore(file);
    const api = await fakeApi();
    api.replyAlways(answers('Here.', { search: true }));
    const yaml = {
      prices: { 'gpt-5.2': { input: 0, output: 0, search: 1 } },
      http: { token_env: { alice: 'TOKEN_ALICE' }, quota: { usd_per_day: 5 } },
    };
    const config = newFile('config.yaml', JSON.stringify(yaml));
    const env = { ...apiEnv(api), TOKEN_ALICE: TOKEN, MCP_HTTP_QUOTA_STORE: `${url}/5` };
    const start = () => startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
    const replicas = await Promise.all([start(), start()]);
    const EACH = 3;
    const inFlight = replicas.length * EACH;
    const askUntilRefused = async (replica: { readonly url: string }, name: string) => {
      for (let count = 0; count < 20; count += 1) {
        const { status, text } = await post(replica.url, `${name} ${count}`);
        if (status === 429) return { answered: count, text };
      }
      return { answered: 20, text: '' };
    };
    const ended = await Promise.all(
      replicas.flatMap((replica, at) =>
        Array.from({ length: EACH }, (_, number) => askUntilRefused(replica, `${at} ${number}`)),
      ),
    );
    const answered = ended.reduce((sum, one) => sum + one.answered, 0);
    expect(answered).toBe(api.requests.length);
    expect(answered).toBeGreaterThanOrEqual(5);
    expect(answered).toBeLessThan(5 + inFlight);
    const used = `Daily quota reached: $${answered}.00 of $5.00. It resets at `;
    for (const replica of [...replicas, await start()]) expect((await post(replica.url)).text).toContain(used);
  });

  test('are not ready until they have reached the store, and stay ready when they lose it', async () => {
    const first = await startRedisServer(file, { password: PASSWORD });
    const { url, port } = first;
    await first.stop();
    const config = newFile('config.yaml', 'http: { quota: { calls_per_day: 9 } }');
    const env = { MCP_HTTP_QUOTA_STORE: url };
    const args = ['--http=127.0.0.1:0', '--offline', '--config', config];
    const replica = await startHttpProcess({ args, env });
    const ready = async () => (await send(new URL('/readyz', replica.url).href, { method: 'GET' })).text;
    expect(await ready()).toBe('{"ok":false,"why":"quota store not reached"}');
    const second = await startRedisServer(file, { password: PASSWORD, port });
    onTestFinished(() => second.stop());
    await expect.poll(ready).toBe('{"ok":true}');
    await second.stop();
    expect((await post(replica.url)).status).toBe(503);
    expect(await ready()).toBe('{"ok":true}');
  });

  test('are announced by doctor, which checks that it can write to the store and leaves nothing there', async () => {
    const store = await startStore(file);
    const config = newFile('config.yaml', 'llm: { adapter: offline }\nhttp: { quota: { calls_per_day: 9 } }');
    const check = async (url: string) => {
      const env = { MCP_HTTP_QUOTA_STORE: url };
      const { stdout, stderr } = await runCli(['doctor', '--config', config], { env });
      expect(stdout + stderr).not.toContain(PASSWORD);
      return /^.* quota: .*$/m.exec(stdout)?.[0];
    };
    const shown = `redis://:[redacted]@127.0.0.1:${store.port}/5`;
    expect(await check(`${store.url}/5`)).toBe(`ok    quota: calls_per_day 9; counted in ${shown}`);
    const client = await createClient({ url: `${store.url}/5` }).connect();
    onTestFinished(() => client.destroy());
    expect(await client.dbSize()).toBe(0);
    // Nothing can be written to a replica.
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    expect(await check(`${store.url}/5`)).toMatch(/^FAIL {2}quota: .* cannot be used \(READONLY /);
  });
});
