import * as v2 from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createClient } from '@redis/client';
import { expect, onTestFinished, test } from 'vitest';
import { newFile } from '../e2e/files.ts';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import {
  describeWithRedis,
  type RedisServer,
  type RedisServerOptions,
  startRedisServer,
} from '../support/redis-server.ts';
import { runCli } from '../support/run-cli.ts';

const QUOTA = 'io.github.uchimanajet7.openai-responses-mcp/quota';
const PASSWORD = 'hunter2/p@ssword';
const TOKEN = 'alice-token-0123456789';
const CLIENT_INFO = { name: 'test', version: '1.0.0' };
const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };

describeWithRedis('two replicas with one quota', tests);

async function startStore(file: string, options: RedisServerOptions = {}): Promise<RedisServer> {
  const store = await startRedisServer(file, { password: PASSWORD, ...options });
  onTestFinished(() => store.stop());
  return store;
}

async function startReplica(api: FakeApi, store: RedisServer, quota: string) {
  const config = newFile('config.yaml', `http: { token_env: { alice: TOKEN_ALICE }, quota: ${quota} }`);
  const env = { ...apiEnv(api), TOKEN_ALICE: TOKEN, MCP_HTTP_QUOTA_STORE: `${store.url}/5` };
  return startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
}

type Call = (query: string) => Promise<Record<string, unknown>>;

async function connectV1(url: string): Promise<Call> {
  const client = new ClientV1(CLIENT_INFO);
  // The package's types do not fit each other under exactOptionalPropertyTypes.
  await client.connect(new HttpTransportV1(new URL(url), { requestInit }) as unknown as TransportV1);
  onTestFinished(() => client.close());
  return (query) => client.callTool({ name: 'answer', arguments: { query } });
}

async function connectV2(url: string): Promise<Call> {
  const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new v2.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return (query) => client.callTool({ name: 'answer', arguments: { query } });
}

const post = (url: string, query = 'q') =>
  send(url, {
    body: legacy('tools/call', { name: 'answer', arguments: { query } }),
    headers: requestInit.headers,
  });

function tests(file: string): void {
  test('admit exactly as many parallel calls of official clients as the limit', async () => {
    const store = await startStore(file);
    const api = await fakeApi();
    const held = holds();
    api.replyAlways(held);
    const replicas = await Promise.all([1, 2].map(() => startReplica(api, store, '{ calls_per_day: 9 }')));
    const [first, second] = replicas;
    const clients = await Promise.all([
      connectV1(first?.url ?? ''),
      connectV2(second?.url ?? ''),
      connectV1(second?.url ?? ''),
      connectV2(first?.url ?? ''),
    ]);
    const calls = Array.from({ length: 24 }, (_, index) => clients[index % 4]?.(`question ${index}`));
    const settled = Promise.allSettled(calls);
    // None has ended, so that the limit can only be kept by counting before they run.
    await api.waitForRequests(9);
    held.release(answers('Here.'));

    const outcomes = await settled;
    const admitted = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    expect(admitted).toHaveLength(9);
    expect(api.requests).toHaveLength(9);
    expect(refused).toHaveLength(15);
    for (const reason of refused) expect(reason).toMatch(/Daily quota reached \(calls_per_day: 9\)/);
    const left = admitted.map((result) => Object(Object(result?._meta)[QUOTA]).calls_per_day);
    expect(left).toContainEqual({ limit: 9, left: 0 });
    for (const replica of replicas) {
      expect((await post(replica.url)).status).toBe(429);
      expect(replica.stderr()).not.toContain(PASSWORD);
      expect(replica.stderr()).not.toContain('quota: ');
    }
  });

  test('count the tokens of each other, and remember them after a restart', async () => {
    const store = await startStore(file);
    const api = await fakeApi();
    api.replyAlways(answers('Here.'));
    const [first, second] = await Promise.all([1, 2].map(() => startReplica(api, store, '{ tokens_per_day: 1 }')));
    expect((await post(first?.url ?? '')).status).toBe(200);
    expect((await post(second?.url ?? '')).message.error?.data).toMatchObject({ limit: 'tokens_per_day', max: 1 });
    const later = await startReplica(api, store, '{ tokens_per_day: 1 }');
    expect((await post(later.url)).status).toBe(429);
  });

  test.for([
    ['refuse', 503, 'refused'],
    ['allow', 200, 'allowed without a quota'],
  ] as const)('%s calls while the store is down, and log it once', async ([onFailure, status, consequence]) => {
    const store = await startStore(file);
    const api = await fakeApi();
    api.replyAlways(answers('Here.'));
    const replica = await startReplica(api, store, `{ calls_per_day: 99, on_store_failure: ${onFailure} }`);
    expect((await post(replica.url)).status).toBe(200);
    await store.stop();
    for (let count = 0; count < 3; count += 1) expect((await post(replica.url)).status).toBe(status);
    await startStore(file, { port: store.port });
    await expect.poll(async () => (await post(replica.url)).message.result?._meta).toHaveProperty([QUOTA]);
    const lines = replica.stderr().match(/^.*quota: .*$/gm) ?? [];
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`calls are ${consequence} until it can`);
    expect(lines[1]).toContain('quota: the store can be used again');
  });

  test('are announced by doctor, which checks that it can write to the store and leaves nothing there', async () => {
    const store = await startStore(file);
    const config = newFile('config.yaml', 'http: { quota: { calls_per_day: 9 } }');
    const check = async (url: string) => {
      const env = { MCP_HTTP_QUOTA_STORE: url };
      const { stdout, stderr } = await runCli(['doctor', '--offline', '--config', config], { env });
      expect(stdout + stderr).not.toContain(PASSWORD);
      return /^.* quota: .*$/m.exec(stdout)?.[0];
    };
    const shown = `redis://:[redacted]@127.0.0.1:${store.port}/5`;
    expect(await check(`${store.url}/5`)).toBe(`ok    quota: calls_per_day 9; counted in ${shown}`);
    expect(await check(`${store.url}/5`.replace('hunter2', 'hunter3'))).toMatch(
      /^FAIL {2}quota: .* cannot be used \(WRONGPASS /,
    );
    const client = await createClient({ url: `${store.url}/5` }).connect();
    onTestFinished(() => client.destroy());
    expect(await client.dbSize()).toBe(0);
    // Nothing can be written to a replica.
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
    expect(await check(`${store.url}/5`)).toMatch(/^FAIL {2}quota: .* cannot be used \(READONLY /);
  });
}
