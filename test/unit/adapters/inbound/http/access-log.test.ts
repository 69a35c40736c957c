import { expect, test } from 'vitest';
import { type AccessEntry, toAccessLine } from '../../../../../src/adapters/inbound/http/access-log.ts';

const lineOf = (entry: Partial<AccessEntry>) => toAccessLine({ verb: 'POST', held: [], ...entry }, 200, new Date(0), 1);

test('the name of a tool, which its server chose, has at most 100 characters that can be displayed', () => {
  const tool = `a\u202Eb\u0085c\u200Bd\u001B[31me${'x'.repeat(1000)}`;
  const line = lineOf({ gatewayCall: { server: 'files', tool, outcome: 'answered', seconds: 1 } });
  expect(JSON.parse(line)).toMatchObject({ server: 'files', tool: `abcde${'x'.repeat(94)}…` });
  expect(line.length).toBeLessThan(300);
});
