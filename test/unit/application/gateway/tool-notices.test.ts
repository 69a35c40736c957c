import { expect, test } from 'vitest';
import { ToolNotices } from '../../../../src/application/gateway/tool-notices.ts';
import type { AccessPolicy } from '../../../../src/domain/gateway/access.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';

/** The notices about one available server. */
function noticesOf() {
  const now: { changed: string[]; policy: AccessPolicy | undefined } = { changed: [], policy: undefined };
  const gateway = {
    get servers() {
      return [{ name: 'fake', state: 'available', changed: now.changed } as never];
    },
    tools: [{ ...fakeTool('echo'), server: 'fake' }],
    changed: [],
  };
  return { now, notices: new ToolNotices(gateway, () => now.policy) };
}

test('a grant without a tool is a notice once, also after another section access', () => {
  const { now, notices } = noticesOf();
  expect(notices.take()).toEqual([]);
  now.policy = { alice: { servers: { fake: ['echo', 'ecco'] } } };
  const grant = { kind: 'unmatched_grant', caller: 'alice', server: 'fake', pattern: 'ecco' };
  expect(notices.take()).toEqual([grant]);
  now.policy = { ...now.policy, bob: { servers: { fake: ['ecco'] } } };
  expect(notices.take()).toEqual([{ ...grant, caller: 'bob' }]);
});

test('tools that the lock withholds are a notice when they have changed', () => {
  const { now, notices } = noticesOf();
  const taken = (...changed: string[]) => {
    now.changed = changed;
    return notices.take();
  };
  expect(taken('a')).toEqual([{ kind: 'not_approved', server: 'fake', tools: ['a'] }]);
  expect(taken('a')).toEqual([]);
  expect(taken('a', 'b')).toHaveLength(1);
  expect(taken()).toEqual([]);
  expect(taken('a', 'b')).toHaveLength(1);
});
