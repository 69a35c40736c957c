import { expect, test } from 'vitest';
import { ToolNotices } from '../../../../src/application/gateway/tool-notices.ts';
import type { AccessPolicy } from '../../../../src/domain/gateway/access.ts';
import type { LeftOut } from '../../../../src/domain/gateway/shared-entries.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';

/** The notices about one available server. */
function noticesOf() {
  const now: { changed: string[]; leftOut: readonly LeftOut[]; policy: AccessPolicy | undefined } = {
    changed: [],
    leftOut: [],
    policy: undefined,
  };
  const gateway = {
    get servers() {
      return [{ name: 'fake', state: 'available', changed: now.changed, leftOut: now.leftOut } as never];
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

test('what a server listed that is left out is a notice once, also if the server is lost in between', () => {
  const { now, notices } = noticesOf();
  const leftOut = [{ list: 'tools', name: 'odd', reason: 'it has no name' }] as const;
  const taken = (listed: readonly LeftOut[]) => {
    now.leftOut = listed;
    return notices.take();
  };
  expect(taken(leftOut)).toEqual([{ kind: 'left_out', server: 'fake', leftOut }]);
  expect(taken([])).toEqual([]);
  expect(taken(leftOut)).toEqual([]);
  // The lists of a server come one by one.
  const prompt = { list: 'prompts', name: '', reason: 'it has no name' } as const;
  expect(taken([...leftOut, prompt])).toEqual([{ kind: 'left_out', server: 'fake', leftOut: [prompt] }]);
  expect(taken([prompt])).toEqual([]);
});
