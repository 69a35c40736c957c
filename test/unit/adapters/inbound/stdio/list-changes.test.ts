import { expect, test } from 'vitest';
import type { ClientList } from '../../../../../src/adapters/inbound/mcp/subscriptions.ts';
import { ListChanges } from '../../../../../src/adapters/inbound/stdio/list-changes.ts';

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
