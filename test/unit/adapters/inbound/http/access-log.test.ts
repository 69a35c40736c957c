import { expect, test } from 'vitest';
import { toAccessLine } from '../../../../../src/adapters/inbound/http/access-log.ts';
import type { LogEntry } from '../../../../../src/adapters/inbound/http/request.ts';

const lineOf = (entry: Partial<LogEntry>) =>
  toAccessLine({ verb: 'POST', path: '/mcp', isShutDown: false, ...entry }, 200, new Date(0), 1);

test('the name of a tool, which its server chose, has at most 100 characters that can be displayed', () => {
  const tool = `a\u202Eb\u0085c\u2066d\u001B[31me${'x'.repeat(1000)}`;
  const line = lineOf({ call: { server: 'files', tool, outcome: 'answered' } });
  expect(JSON.parse(line)).toMatchObject({ server: 'files', tool: `abcde${'x'.repeat(94)}…` });
  expect(line.length).toBeLessThan(300);
});

test('a path has at most 100 characters, of which unusual ones are replaced', () => {
  expect(JSON.parse(lineOf({ path: '/a%20b;c\u202E' }))).toMatchObject({ path: '/a?20b?c?' });
  expect(JSON.parse(lineOf({ path: `/${'a'.repeat(500)}` })).path).toHaveLength(100);
});
