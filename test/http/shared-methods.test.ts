import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { settled } from '../support/fake-clock.ts';
import { untilAborted } from '../support/fake-tool-server.ts';
import { legacy, modern } from '../support/http-client.ts';
import { SharingServer } from '../support/sharing-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';

const notes = () => new SharingServer({ resources: ['notes:1'], prompts: ['plan'] });

describe('a header Mcp-Name', () => {
  test.each([
    ['resources/read', { uri: 'notes:1' }, 'notes:1', 200],
    ['resources/read', { uri: 'notes:1' }, '=?base64?bm90ZXM6MQ==?=', 200],
    ['resources/read', { uri: 'notes:1' }, 'notes:2', 400],
    ['resources/read', { uri: 'notes:1' }, undefined, 400],
    ['prompts/get', { name: 'notes__plan' }, 'notes__plan', 200],
    ['prompts/get', { name: 'notes__plan' }, 'plan', 400],
    ['prompts/list', {}, undefined, 200],
  ])('of %s %j is checked: %j is answered with %i', async (method, params, name, status) => {
    const { begin } = await serveGateway({ notes: notes() });
    const headers = { 'Mcp-Name': name ?? [] };
    const reply = await begin(modern(method, params), headers).reply;
    expect(reply.status).toBe(status);
    if (status === 400) expect(reply.message.error).toMatchObject({ code: -32020 });
  });
});

test('errors have the status 200, except for methods that do not exist', async () => {
  const { post } = await serveGateway({ notes: notes(), other: notes() });
  for (const [message, status, code] of [
    [modern('resources/read', { uri: 'x:1' }), 200, -32602],
    [legacy('resources/read', { uri: 'x:1' }), 200, -32002],
    [modern('prompts/get', { name: 'none__x' }), 200, -32602],
    [modern('completion/complete', { ref: { type: 'ref/prompt', name: 'notes__plan' } }), 404, -32601],
    [legacy('completion/complete', {}), 200, -32601],
    [modern('resources/subscribe', { uri: 'notes:1' }), 404, -32601],
  ] as const) {
    const reply = await post(message);
    expect([reply.status, reply.message.error]).toEqual([status, expect.objectContaining({ code })]);
  }
});

test.each([legacy, modern])('a client that leaves cancels its request at the server (%o)', async (toMessage) => {
  const server = notes();
  let isAborted = false;
  server.replies['resources/read'] = async (_, __, signal) => {
    await untilAborted(signal);
    isAborted = true;
    return err({ kind: 'aborted' });
  };
  const { begin } = await serveGateway({ notes: server });
  const reading = begin(toMessage('resources/read', { uri: 'notes:1' }));
  await until(() => server.methods.includes('resources/read'));
  reading.leave();
  await until(() => isAborted);
});

test('a caller has only so many requests in flight', async () => {
  const server = notes();
  server.replies['resources/read'] = async (_, __, signal) => {
    await untilAborted(signal);
    return err({ kind: 'aborted' });
  };
  const { begin, post } = await serveGateway({ notes: server }, { http: { maxCallsPerToken: 1 } });
  const reading = begin(legacy('resources/read', { uri: 'notes:1' }));
  await until(() => server.methods.includes('resources/read'));
  expect((await post(legacy('prompts/get', { name: 'notes__plan' }))).status).toBe(429);
  reading.leave();
});

test('the access log names the methods, and no text of a client', async () => {
  const { post, untilLogged, accessLines } = await serveGateway({ notes: notes() });
  const requests = [
    legacy('resources/list'),
    legacy('resources/templates/list'),
    legacy('resources/read', { uri: 'notes:private' }),
    legacy('prompts/list'),
    legacy('prompts/get', { name: 'notes__private' }),
    legacy('completion/complete'),
  ];
  for (const request of requests) await post(request);
  await untilLogged(requests.length);
  expect(accessLines.map(({ method }) => method)).toEqual(requests.map(({ method }) => method));
  expect(JSON.stringify(accessLines)).not.toContain('private');
});

describe('a caller who may not read a server', () => {
  const tokens = [
    { caller: 'reader', token: 'reader-token-0123456789' },
    { caller: 'caller', token: 'caller-token-0123456789' },
  ];
  const rightsOf = rightsBy({
    reader: { servers: { notes: 'read_only', other: 'all' } },
    caller: { servers: { notes: ['*'], other: 'all' } },
  });
  const as = (caller: string) => ({ Authorization: `Bearer ${caller}-token-0123456789` });

  test.each([
    ['resources/read', { uri: 'notes:1' }, { uri: 'absent:1' }],
    ['resources/read', { uri: 'gateway:///notes/notes:1' }, { uri: 'gateway:///absent/notes:1' }],
    ['prompts/get', { name: 'notes__plan' }, { name: 'absent__plan' }],
    ['resources/list', {}, {}],
    ['prompts/list', {}, {}],
  ])('gets the response for what does not exist (%s %j)', async (method, params, absent) => {
    const hidden = notes();
    const other = new SharingServer({ resources: [], prompts: [] });
    other.replies['resources/read'] = async () => err({ kind: 'json_rpc', code: -32602, message: 'none' });
    const { post } = await serveGateway({ notes: hidden, other }, { http: { tokens, rightsOf } });
    await settled();
    for (const toMessage of [legacy, modern]) {
      const allowed = await post(toMessage(method, params), as('reader'));
      expect(allowed.text).toMatch(/notes|messages/);
      hidden.requests.length = 0;
      const [refused, missing] = [
        await post(toMessage(method, params), as('caller')),
        await post(toMessage(method, absent), as('caller')),
      ];
      expect(refused.text).toBe(missing.text.replaceAll('absent', 'notes'));
      expect(refused.status).toBe(missing.status);
      expect(hidden.requests).toEqual([]);
    }
  });
});
