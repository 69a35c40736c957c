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

test.each([
  ['resources/read', { uri: 'notes:1' }, 'notes:1', 200],
  ['resources/read', { uri: 'notes:1' }, 'notes:2', 400],
  ['prompts/get', { name: 'notes__plan' }, 'plan', 400],
  ['prompts/list', {}, undefined, 200],
])('of %s %j, the header Mcp-Name is checked: %j is answered with %i', async (method, params, name, status) => {
  const { post } = await serveGateway({ notes: notes() });
  const reply = await post(modern(method, params), { 'Mcp-Name': name ?? [] });
  expect(reply.status).toBe(status);
  if (status === 400) expect(reply.message.error).toMatchObject({ code: -32020 });
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

test('a client that leaves cancels its request at the server', async () => {
  const server = notes();
  let isAborted = false;
  server.replies['resources/read'] = async (_, __, signal) => {
    await untilAborted(signal);
    isAborted = true;
    return err({ kind: 'aborted' });
  };
  const { begin } = await serveGateway({ notes: server });
  const reading = begin(legacy('resources/read', { uri: 'notes:1' }));
  await until(() => server.methods.includes('resources/read'));
  reading.leave();
  await until(() => isAborted);
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
  const tokens = ['reader', 'caller'].map((caller) => ({ caller, token: `token-of-${caller}` }));
  const rightsOf = rightsBy({
    reader: { servers: { notes: 'read_only', other: 'all' } },
    caller: { servers: { notes: ['*'], other: 'all' } },
  });
  const as = (caller: string) => ({ Authorization: `Bearer token-of-${caller}` });

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
    const allowed = await post(legacy(method, params), as('reader'));
    expect(allowed.text).toMatch(/notes|messages/);
    hidden.requests.length = 0;
    const refused = await post(legacy(method, params), as('caller'));
    const missing = await post(legacy(method, absent), as('caller'));
    expect(refused.text).toBe(missing.text.replaceAll('absent', 'notes'));
    expect(refused.status).toBe(missing.status);
    expect(hidden.requests).toEqual([]);
  });
});
