import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InProgress } from '../../../../src/application/async/in-progress.ts';

test('law: has the same members as a set', () => {
  const actions = fc.array(fc.record({ isAdded: fc.boolean(), member: fc.nat(5) }));
  fc.assert(
    fc.property(actions, (actions) => {
      const members = new InProgress<number>();
      const set = new Set<number>();
      for (const { isAdded, member } of actions) {
        if (!isAdded) expect(members.delete(member)).toBe(set.delete(member));
        else if (!members.has(member)) {
          members.add(member);
          set.add(member);
        }
        expect(members.has(member)).toBe(set.has(member));
        expect(members.size).toBe(set.size);
        expect(new Set(members)).toEqual(set);
      }
    }),
  );
});

test('members may end while all are visited', () => {
  const members = new InProgress<string>();
  for (const member of ['a', 'b', 'c']) members.add(member);
  const visited: string[] = [];
  for (const member of members) {
    visited.push(member);
    members.delete(member);
  }
  expect(visited).toEqual(['a', 'b', 'c']);
  expect(members.size).toBe(0);
});
