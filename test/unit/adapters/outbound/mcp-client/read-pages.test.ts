import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { readPages } from '../../../../../src/adapters/outbound/mcp-client/read-pages.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';

/** Reads a list from a server that answers the request with this number, from 0, and this cursor. */
async function read(pageOf: (request: number, cursor: unknown) => JsonObject) {
  const cursors: unknown[] = [];
  let warnings = 0;
  const warn = () => {
    warnings += 1;
  };
  const outcome = await readPages({ method: 'tools/list', member: 'tools', warn }, async ({ cursor }) => {
    cursors.push(cursor);
    return ok(pageOf(cursors.length - 1, cursor));
  });
  return { outcome, cursors, warnings };
}

const tool = (name: string, more = {}) => ({ name, ...more });

test('a list has the entries of all pages, also of one whose cursor is an empty text', async () => {
  const pages = [{ tools: [tool('a')], nextCursor: '' }, { tools: [], nextCursor: '2' }, { tools: [tool('b')] }];
  const { outcome, cursors, warnings } = await read((request) => pages[request] ?? {});
  expect(outcome._unsafeUnwrap()).toEqual([tool('a'), tool('b')]);
  expect([cursors, warnings]).toEqual([[undefined, '', '2'], 0]);
});

test('a cursor that is always an empty text ends the list without a warning', async () => {
  const { outcome, cursors, warnings } = await read(() => ({ tools: [tool('a')], nextCursor: '' }));
  expect(outcome._unsafeUnwrap()).toEqual([tool('a')]);
  expect([cursors, warnings]).toEqual([[undefined, ''], 0]);
});

// S77
test('an entry that comes again is listed once, and each other entry of its name, too', async () => {
  const pages = [
    { tools: [tool('a'), tool('b'), tool('a', { title: 'A' })], nextCursor: '1' },
    { tools: [tool('b'), tool('b', { title: 'B' })] },
  ];
  const { outcome, warnings } = await read((request) => pages[request] ?? {});
  expect(outcome._unsafeUnwrap()).toEqual([tool('a'), tool('b'), tool('a', { title: 'A' }), tool('b', { title: 'B' })]);
  expect(warnings).toBe(0);
});

test('a cursor that is no text is sent as it came', async () => {
  const pages = [
    { tools: [tool('a')], nextCursor: 0 },
    { tools: [tool('b')], nextCursor: { page: 2 } },
    { tools: [tool('c')], nextCursor: false },
  ];
  const { outcome, cursors, warnings } = await read((request) => pages[request] ?? {});
  expect(outcome._unsafeUnwrap()).toEqual([tool('a'), tool('b'), tool('c')]);
  expect([cursors, warnings]).toEqual([[undefined, 0, { page: 2 }], 0]);
});

test('a list may be an object of its entries', async () => {
  const { outcome } = await read(() => ({ tools: { 0: tool('a'), 2: tool('b') } }));
  expect(outcome._unsafeUnwrap()).toEqual([tool('a'), tool('b')]);
});

test('a list ends, with a warning, at a cursor that the server itself refuses', async () => {
  const refused = { kind: 'json_rpc', code: -32602, message: 'unknown cursor' } as const;
  const reasons: string[] = [];
  const list = { method: 'tools/list', member: 'tools', warn: (reason: string) => reasons.push(reason) };
  const outcome = await readPages(list, async ({ cursor }) =>
    cursor === undefined ? ok({ tools: [tool('a')], nextCursor: 'x' }) : err(refused),
  );
  expect(outcome._unsafeUnwrap()).toEqual([tool('a')]);
  expect(reasons).toEqual(['refuses the next page that it names itself (unknown cursor)']);
  expect((await readPages(list, async () => err(refused)))._unsafeUnwrapErr()).toEqual(refused);
});

test('a list that is absent is empty', async () => {
  expect((await read(() => ({}))).outcome._unsafeUnwrap()).toEqual([]);
});

test.each<[string, (request: number) => JsonObject]>([
  ['the same cursor', () => ({ tools: [tool('a')], nextCursor: 'x' })],
  ['cursors in a circle', (request) => ({ tools: [tool(`a${request % 3}`)], nextCursor: String(request % 3) })],
  ['new cursors for the same entries', (request) => ({ tools: [tool('a')], nextCursor: String(request) })],
  ['entries that only look new', (request) => ({ tools: [tool('a', { title: request })], nextCursor: `${request}` })],
  ['empty pages', (request) => ({ tools: request === 0 ? [tool('a')] : [], nextCursor: String(request) })],
])('ends, with a warning, at %s', async (_, pageOf) => {
  const { outcome, cursors, warnings } = await read(pageOf);
  expect(outcome._unsafeUnwrap()).toContainEqual(expect.objectContaining({ name: expect.stringMatching(/^a/) }));
  expect(cursors.length).toBeLessThan(6);
  expect(warnings).toBe(1);
});

test('a list without an end is not read', async () => {
  const { outcome } = await read((request) => ({ tools: [tool(`a${request}`)], nextCursor: String(request) }));
  expect(outcome._unsafeUnwrapErr()).toMatchObject({ kind: 'invalid_result' });
});
