import { describe, expect, test } from 'vitest';
import { serverSecrets } from '../../../../../src/adapters/outbound/config/secrets.ts';
import type { ServerEntry } from '../../../../../src/adapters/outbound/config/server-entry.ts';

const child = (envs: Readonly<Record<string, string>>, args: readonly string[] = []) =>
  ({ name: 'a', connection: { kind: 'child', envs, args } }) as ServerEntry;
const remote = (headers: Readonly<Record<string, string>>, url = 'https://a.example/mcp') =>
  ({ name: 'a', connection: { kind: 'remote', headers, url } }) as ServerEntry;
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

describe('the secrets of servers', () => {
  test.each([
    ['a variable, also in base64', child({ A: 'one-secret-1' }), ['one-secret-1', base64('one-secret-1')]],
    ['a header', remote({ 'X-Id': 'two-secret-2' }), ['two-secret-2']],
    [
      'the credentials of a header',
      remote({ Authorization: 'Bearer abcxyz-123' }),
      ['Bearer abcxyz-123', 'abcxyz-123'],
    ],
    ['the password in a URL', child({ DB: 'postgres://joe:p%40ss@host/db' }), ['p%40ss', 'p@ss', base64('joe:p@ss')]],
    ['the password in an argument', child({}, ['postgres://joe:p%40ss@host/db']), ['p@ss']],
    ['a parameter of its URL', remote({}, 'https://a.example/mcp?token=abcd-1234'), ['abcd-1234']],
  ])('contain %s', (_, server, expected) => {
    expect(serverSecrets([server], [])).toEqual(expect.arrayContaining(expected));
  });

  test('do not contain what the name of a server contains, without which nobody can call it', () => {
    const server = { ...child({ DB_USER: 'postgres' }, ['postgres://postgres:postgres@db/a']), name: 'my-postgres' };
    expect(serverSecrets([server], [])).not.toContain('postgres');
    expect(serverSecrets([{ ...server, name: 'db' }], [])).toContain('postgres');
  });

  test('contain the variables that the configuration refers to', () => {
    const expanded = [
      ['TOKEN_OF_ARGS', 'abcd-1234'],
      ['HOME', '/home/joe'],
    ] as const;
    expect(serverSecrets([], expanded)).toEqual(['abcd-1234', base64('abcd-1234')]);
  });

  test.each([
    'hunter2',
    'production',
    '/home/joe/notes',
    'C:\\Users\\joe\\notes',
    'https://company.example.net',
    'application/json; charset=utf-8',
  ])('do not contain %s: masking it would damage messages', (value) => {
    expect(serverSecrets([child({ A: value })], [])).toEqual([]);
  });
});
