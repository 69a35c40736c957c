import { expect, test } from 'vitest';
import { toAccessEntry } from '../../../../../src/adapters/inbound/http/access-log.ts';
import type { LogEntry } from '../../../../../src/adapters/inbound/http/request.ts';

const entryOf = (entry: Partial<LogEntry>) =>
  toAccessEntry({ verb: 'POST', path: '/mcp', isShutDown: false, ...entry }, 200, new Date(0), 1);

test('the name of a tool, which its server chose, has at most 100 characters that can be displayed', () => {
  const tool = `a\u202Eb\u0085c\u2066d\u001B[31me${'x'.repeat(1000)}`;
  const logged = entryOf({ call: { server: 'files', tool, outcome: 'answered' } });
  expect(logged).toMatchObject({ server: 'files', tool: `abcde${'x'.repeat(94)}…` });
  expect(JSON.stringify(logged).length).toBeLessThan(300);
});

test('a path has at most 100 characters, of which unusual ones are replaced', () => {
  expect(entryOf({ path: '/a%20b;c\u202E' })).toMatchObject({ path: '/a?20b?c?' });
  expect(entryOf({ path: `/${'a'.repeat(500)}` }).path).toHaveLength(100);
});
