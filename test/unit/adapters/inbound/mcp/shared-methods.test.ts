import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { GatewayMethods } from '../../../../../src/adapters/inbound/mcp/shared-methods.ts';
import type { Gateway } from '../../../../../src/application/gateway/gateway.ts';
import { rightsBy } from '../../../../../src/domain/gateway/access.ts';
import { EVERYTHING } from '../../../../../src/domain/gateway/call-origin.ts';
import type { ToolServerError } from '../../../../../src/domain/gateway/tool-call-error.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';
import { FakeApplication, hangs as hangingAnswer } from '../../../../support/fake-application.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { untilAborted } from '../../../../support/fake-tool-server.ts';
import { clientOf, MODERN, newSession } from '../../../../support/mcp-session.ts';
import { callerOf, LOCAL } from '../../../../support/origins.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { SharingServer } from '../../../../support/sharing-server.ts';

const SECRET = 'hunter2-hunter2';

function start(servers: Readonly<Record<string, SharingServer>>, { isSession = true, by = LOCAL } = {}) {
  const clock = new FakeClock();
  const redactor = createRedactor();
  redactor.learn({ ofServers: [SECRET] });
  let gateway: Gateway | undefined;
  const load = async () => {
    gateway ??= startScripted(servers, { clock, ...(isSession && { onListChanged: () => {} }) });
    return gateway;
  };
  const shared = new GatewayMethods({ gateway: load, isSession, clock, redactor });
  const session = newSession({ application: new FakeApplication(hangingAnswer), clock, by, shared });
  const client = clientOf(session);
  const request = async (...asked: Parameters<typeof client.request>) =>
    (await client.request(...asked)) as
      | { readonly result?: Record<string, unknown>; readonly error?: object }
      | undefined;
  return {
    clock,
    session,
    shared,
    ...client,
    request,
    modern: (method: string, params: object = {}) => request(method, { ...params, _meta: MODERN }),
    gateway: () => gateway,
  };
}

const only = (server: string) =>
  callerOf('alice', { rights: rightsBy({ alice: { servers: { [server]: 'all' } } })({ caller: 'alice' }) });

describe('a client with a session', () => {
  test('is offered everything at the start, which starts nothing', async () => {
    const { request, modern, gateway } = start({ a: new SharingServer({}) });
    const listChanged = { listChanged: true };
    const capabilities = { tools: {}, resources: listChanged, prompts: listChanged, completions: {} };
    expect((await request('initialize'))?.result?.capabilities).toEqual(capabilities);
    const discovered = (await modern('server/discover'))?.result;
    expect(discovered).toMatchObject({ capabilities, ttlMs: 3_600_000 });
    expect(gateway()).toBeUndefined();
  });

  test('has an outdated list, once until it lists again, if a server starts or ends after it', async () => {
    const [slow, fast] = [new SharingServer({ prompts: ['x'] }, 'hangs'), new SharingServer({ prompts: ['x'] })];
    const { request, shared, clock, gateway } = start({ slow, fast });
    const outdated = () => [...shared.takeOutdated()];
    expect(outdated()).toEqual([]);
    const listing = request('prompts/list');
    await settled();
    await clock.advance(5000);
    expect((await listing)?.result).toMatchObject({ prompts: [{ name: 'fast__x' }] });
    expect(outdated()).toEqual([]);
    slow.letConnect();
    await settled();
    expect(outdated()).toEqual(['prompts']);
    fast.crash();
    expect(outdated()).toEqual([]);
    await request('prompts/list');
    expect(outdated()).toEqual([]);
    // A server that starts again keeps its lists.
    slow.crash();
    expect(outdated()).toEqual([]);
    await gateway()?.close();
    expect(outdated()).toEqual(['prompts']);
  });
});

describe('a client without a session', () => {
  test('is offered what available servers have that it may use; other methods do not exist', async () => {
    const servers = { a: new SharingServer({ prompts: ['x'] }), b: new SharingServer({ resources: ['r:1'] }) };
    const { request, modern } = start(servers, { isSession: false, by: only('a') });
    await request('prompts/list');
    expect((await request('initialize'))?.result?.capabilities).toEqual({ tools: {}, prompts: {} });
    expect((await modern('server/discover'))?.result).toMatchObject({
      capabilities: { tools: {}, prompts: {} },
      cacheScope: 'private',
    });
    for (const [method, params] of [
      ['resources/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: 'r:1' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'a__x' } }],
    ] as const) {
      expect((await request(method, params))?.error).toEqual({ code: -32601, message: `Method not found: ${method}` });
    }
    expect(servers.b.methods).not.toContain('resources/read');
  });
});

test('an unknown cursor is an error', async () => {
  const { request } = start({ a: new SharingServer({ prompts: ['p'] }) });
  expect((await request('prompts/list', { cursor: '1' }))?.error).toMatchObject({ code: -32602 });
});

test('lists and contents of the modern era say how long they may be cached', async () => {
  const servers = { a: new SharingServer({ resources: ['r:1'], templates: [], prompts: [] }) };
  const { modern } = start(servers);
  for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) {
    const { result } = (await modern(method)) ?? {};
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'public' });
  }
  expect((await modern('resources/read', { uri: 'r:1' }))?.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  servers.a.replies['resources/read'] = async () => ok({ contents: [], ttlMs: 7, resultType: 'other' });
  expect((await modern('resources/read', { uri: 'r:1' }))?.result).toMatchObject({ ttlMs: 7, resultType: 'complete' });
  const restricted = start(servers, { by: only('a') });
  expect((await restricted.modern('prompts/list'))?.result).toMatchObject({ cacheScope: 'private' });
});

test('a server gets the parameters and the trace of the client, and its own names', async () => {
  const a = new SharingServer({ resources: ['r:1'], prompts: ['x'], completions: ['y'] });
  const { request, modern } = start({ a, b: new SharingServer({ resources: ['r:1'] }) });
  const argument = { name: 'q', value: 'v' };
  const _meta = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
  await request('prompts/get', { name: 'a__x', arguments: { q: '1' }, _meta: { ..._meta, progressToken: 1 } });
  await modern('prompts/get', { name: 'a__x' });
  await request('resources/list', { _meta });
  await request('resources/read', { uri: 'gateway:///a/r:1', _meta });
  await request('completion/complete', { ref: { type: 'ref/prompt', name: 'a__x', title: 'X' }, argument, _meta });
  const context = { arguments: { other: '1' } };
  await request('completion/complete', { ref: { type: 'ref/resource', uri: 'gateway:///a/r:1' }, argument, context });
  expect(a.requests.filter(([method]) => !method.endsWith('/list'))).toEqual([
    ['prompts/get', { name: 'x', arguments: { q: '1' }, _meta }],
    ['prompts/get', { name: 'x' }],
    ['resources/read', { uri: 'r:1', _meta }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'x', title: 'X' }, argument, _meta }],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'r:1' }, argument, context }],
  ]);
  expect(a.requests.filter(([method, params]) => method.endsWith('/list') && '_meta' in params)).toEqual([]);
});

describe('an error', () => {
  test.each([
    ['resources/read', { uri: 'z:1' }, 'Unknown resource: z:1', -32002],
    ['prompts/get', { name: 'c__z' }, 'Unknown prompt: c__z', -32602],
    ['completion/complete', { ref: { type: 'ref/resource', uri: 'z:1' } }, 'Unknown resource: z:1', -32602],
  ])('for what is unknown to %s %j is "%s"', async (method, params, message, code) => {
    const shared = { resources: ['r:1'], prompts: ['x'], completions: [] };
    const { request, modern } = start({ a: new SharingServer(shared), b: new SharingServer(shared) });
    expect((await request(method, params))?.error).toEqual({ code, message });
    expect((await modern(method, params))?.error).toEqual({ code: -32602, message });
  });

  test.each([
    ['resources/read', { uri: 1 }],
    ['prompts/get', {}],
    ['completion/complete', {}],
    ['completion/complete', { ref: { type: 'ref/other', name: 'a' } }],
  ])('for %s %j says that it names nothing', async (method, params) => {
    const { request } = start({ a: new SharingServer({ resources: [] }) });
    expect((await request(method, params))?.error).toMatchObject({ code: -32602 });
  });

  const replying = async (error: ToolServerError) => {
    const a = new SharingServer({ resources: [] });
    a.replies['resources/read'] = async () => err(error);
    return (await start({ a }).request('resources/read', { uri: 'r:1' }))?.error;
  };

  test('of a server is passed on, but codes that would be about this server are not', async () => {
    const error = { code: -32002, message: 'no such file', data: { uri: 'r:1' } };
    expect(await replying({ kind: 'json_rpc', ...error })).toEqual(error);
    expect(await replying({ kind: 'json_rpc', ...error, message: `no ${SECRET}` })).toMatchObject({
      message: 'no [redacted]',
    });
    for (const code of [-32601, -32020, -32021, -32022, -32042]) {
      expect(await replying({ kind: 'json_rpc', ...error, code })).toEqual({ ...error, code: -32603 });
    }
  });

  test('for what happened to a server begins with its code', async () => {
    const { request } = start({ down: new SharingServer({}, `cannot start ${SECRET}`) });
    expect((await request('resources/read', { uri: 'gateway:///down/r:1' }))?.error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^SERVER_NOT_RUNNING: .*\[redacted\]/),
    });
  });
});

test('a request in flight is cancelled at its server, and gets an error, when the process exits', async () => {
  const a = new SharingServer({ resources: [] });
  let isAborted = false;
  a.replies['resources/read'] = async (_, __, signal) => {
    await untilAborted(signal);
    isAborted = true;
    return err({ kind: 'aborted' });
  };
  const { request, sent, session } = start({ a });
  void request('resources/read', { uri: 'r:1' });
  await settled();
  session.shutDown();
  await settled();
  expect(isAborted).toBe(true);
  expect(sent).toEqual([
    expect.objectContaining({ error: { code: -32603, message: expect.stringMatching(/shutting down/) } }),
  ]);
});

test('without servers, the methods do not exist', async () => {
  const methods = new GatewayMethods({
    gateway: async () => undefined,
    isSession: false,
    clock: new FakeClock(),
    redactor: createRedactor(),
  });
  const call = { method: 'prompts/list', params: {}, era: 'modern' as const, by: LOCAL };
  expect(await methods.call(call, new AbortController().signal)).toMatchObject({ error: { code: -32601 } });
  expect(await methods.capabilities(EVERYTHING)).toEqual({});
  expect(['tools/list', 'resources/subscribe', 'constructor'].filter((method) => methods.has(method))).toEqual([]);
});
