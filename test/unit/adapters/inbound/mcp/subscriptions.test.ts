import { expect, test } from 'vitest';
import { type ClientList, ListChanges, Subscriptions } from '../../../../../src/adapters/inbound/mcp/subscriptions.ts';
import { FakeApplication } from '../../../../support/fake-application.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { clientOf, MODERN, newSession } from '../../../../support/mcp-session.ts';

const ID = 'io.modelcontextprotocol/subscriptionId';

function start() {
  const subscriptions = new Subscriptions();
  const client = clientOf(newSession({ application: new FakeApplication(), subscriptions }));
  const listen = async (id: string | number, notifications: unknown) => {
    void client.request('subscriptions/listen', { notifications, _meta: MODERN }, id);
    await settled();
  };
  const received = () => client.sent.splice(0);
  return { ...client, subscriptions, listen, received };
}

const acknowledged = (id: string | number, notifications: object) => ({
  jsonrpc: '2.0',
  method: 'notifications/subscriptions/acknowledged',
  params: { notifications, _meta: { [ID]: id } },
});
const changed = (list: string, id: string | number) => ({
  jsonrpc: '2.0',
  method: `notifications/${list}/list_changed`,
  params: { _meta: { [ID]: id } },
});

test('a client is notified of what it listens to, once for each subscription', async () => {
  const { listen, received, subscriptions } = start();
  await listen(0, { toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: ['a:1'], other: true });
  await listen('a', { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true });
  expect(received()).toEqual([
    acknowledged(0, { toolsListChanged: true }),
    acknowledged('a', { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }),
  ]);
  subscriptions.notify('tools');
  subscriptions.notify('resources');
  expect(received()).toEqual([changed('tools', 0), changed('tools', 'a'), changed('resources', 'a')]);
});

test('a change that came before the subscription is announced with it, once', async () => {
  const { listen, received, subscriptions } = start();
  subscriptions.notify('tools');
  subscriptions.notify('prompts');
  await listen(1, { toolsListChanged: true });
  await listen(2, { toolsListChanged: true });
  expect(received()).toEqual([
    acknowledged(1, { toolsListChanged: true }),
    changed('tools', 1),
    acknowledged(2, { toolsListChanged: true }),
  ]);
});

test('a cancelled subscription gets nothing more, and the others go on', async () => {
  const { listen, received, send, subscriptions } = start();
  for (const id of [1, 2]) await listen(id, { toolsListChanged: true });
  received();
  await send({ method: 'notifications/cancelled', params: { requestId: 1, _meta: MODERN } });
  await settled();
  subscriptions.notify('tools');
  expect(received()).toEqual([changed('tools', 2)]);
});

test('at the end, each subscription has a response', async () => {
  const { listen, received, subscriptions } = start();
  await listen(1, { toolsListChanged: true });
  received();
  subscriptions.end();
  await settled();
  const serverInfo = { name: 'openai-responses-mcp', version: '1.2.3' };
  expect(received()).toEqual([
    {
      jsonrpc: '2.0',
      id: 1,
      result: { resultType: 'complete', _meta: { [ID]: 1, 'io.modelcontextprotocol/serverInfo': serverInfo } },
    },
  ]);
  subscriptions.notify('tools');
  expect(received()).toEqual([]);
});

test('what is no list of notifications is an error', async () => {
  const { listen, received } = start();
  await listen(1, undefined);
  expect(received()).toEqual([{ jsonrpc: '2.0', id: 1, error: expect.objectContaining({ code: -32602 }) }]);
});

test.each([
  ['in the legacy era', {}],
  ['without lists that change', MODERN],
])('the method does not exist %s', async (_, _meta) => {
  const client = clientOf(newSession({ application: new FakeApplication() }));
  expect(await client.request('subscriptions/listen', { notifications: {}, _meta })).toMatchObject({
    error: { code: -32601 },
  });
});

test('each receiver is notified of the lists that are outdated, while there is a client', () => {
  const changes = new ListChanges();
  const received: string[] = [];
  const receive = (by: string) => (list: ClientList) => void received.push(`${by} ${list}`);
  const lists = {
    tools: { takeOutdated: () => true },
    shared: { takeOutdated: () => ['prompts' as const] },
  };
  changes.onToolsChanged();
  changes.connect(lists, [receive('session'), receive('subscription')]);
  changes.onToolsChanged();
  expect(received.splice(0)).toEqual([
    'session tools',
    'subscription tools',
    'session prompts',
    'subscription prompts',
  ]);
  changes.connect({ tools: { takeOutdated: () => false } }, [receive('session')]);
  changes.onToolsChanged();
  changes.notify('resources');
  expect(received.splice(0)).toEqual(['session resources']);
  changes.end();
  changes.notify('resources');
  expect(received).toEqual([]);
});
