import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../../../src/adapters/outbound/config/server-entry.ts';
import { serverSecrets } from '../../../../../src/adapters/outbound/config/server-secrets.ts';

const child = (envs: Readonly<Record<string, string>>, args: readonly string[] = []) =>
  ({ connection: { kind: 'child', envs, args } }) as ServerEntry;
const remote = (headers: Readonly<Record<string, string>>, url = 'https://a.example/mcp') =>
  ({ connection: { kind: 'remote', headers, url } }) as ServerEntry;
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

/** Whether this value of a variable is a secret. */
const isSecret = (name: string, value: string) => serverSecrets([child({ [name]: value })], []).includes(value);

describe('the secrets of servers', () => {
  test('are the values of their variables and headers', () => {
    const servers = [child({ A: 'one-secret-1', B: '' }), remote({ 'X-Id': 'two-secret-2' })];
    expect(serverSecrets(servers, [])).toEqual(
      expect.arrayContaining(['one-secret-1', base64('one-secret-1'), 'two-secret-2']),
    );
    expect(serverSecrets(servers, [])).not.toContain('');
  });

  test.each([
    ['the credentials of a header', remote({ Authorization: 'Bearer abcxyz' }), ['Bearer abcxyz', 'abcxyz']],
    [
      'the user and password of Basic',
      remote({ Authorization: `Basic ${base64('joe:passw')}` }),
      [base64('joe:passw'), 'joe:passw', 'passw'],
    ],
    ['a cookie', remote({ Cookie: 'theme=dark; session=0123456789ab' }), ['0123456789ab']],
    ['the password in a URL', child({ DB: 'postgres://joe:p%40ss@host/db' }), ['p%40ss', 'p@ss', base64('joe:p@ss')]],
    ['a parameter in a URL', child({ BACKEND: 'https://b.example/?apiKey=abcd' }), ['abcd']],
    [
      'JSON',
      child({ HEADERS: '{"Authorization": "Bearer abcxyz", "n": ["listed-secret-1"]}' }),
      ['abcxyz', 'listed-secret-1'],
    ],
    ['the lines of a certificate', child({ PEM: '-----\nMIIabcdefg1\nMIIabcdefg2\n' }), ['MIIabcdefg1', 'MIIabcdefg2']],
    ['the parameters of its URL', remote({}, 'https://a.example/mcp?token=abcd'), ['abcd']],
    [
      'a key in the path of its URL',
      remote({}, 'https://a.example/s/abcdefghij0123456789/mcp'),
      ['abcdefghij0123456789'],
    ],
  ])('contain what an error may name alone: %s', (_, server, expected) => {
    expect(serverSecrets([server], [])).toEqual(expect.arrayContaining(expected));
  });

  test.each([
    [['--api-key', 'Zx81-abcdefgh-77'], 'Zx81-abcdefgh-77'],
    [['--api-key', 'Zx81abcdefgh77=='], 'Zx81abcdefgh77=='],
    [['--token', 'joe:Zx81-abcdefgh-77'], 'joe:Zx81-abcdefgh-77'],
    [['--token=Zx81-abcdefgh-77'], 'Zx81-abcdefgh-77'],
    [['--header', 'Authorization: Bearer Zx81-abcdefgh-77'], 'Zx81-abcdefgh-77'],
    [['-H', 'X-Api-Key:Zx81-abcdefgh-77'], 'Zx81-abcdefgh-77'],
    [['run', '-e', 'GITHUB_TOKEN=Zx81-abcdefgh-77'], 'Zx81-abcdefgh-77'],
    [['postgres://joe:p%40ss@host/db'], 'p@ss'],
    [['--database=postgres://joe:p%40ss@host/db'], 'p@ss'],
    [['-e', 'DATABASE_URL=postgres://joe:p%40ss@host/db'], 'p@ss'],
    [['--env=API_KEY=abcd-efgh-1234'], 'abcd-efgh-1234'],
    [['--header=Authorization: Bearer abcd-efgh-1234'], 'abcd-efgh-1234'],
  ])('contain arguments that their names call secret: %j', (args, expected) => {
    expect(serverSecrets([child({}, args)], [])).toContain(expected);
  });

  test('contain no other arguments', () => {
    const args = [
      '-y',
      '@scope/server-of-keys',
      'npm:server-of-notes@1.2',
      '--keyspace',
      'main',
      '--auth',
      'oauth',
      '--no-auth',
      '--transport-mode',
      '--auth=oauth',
      'server-1.2-b3',
      '/home/joe/notes',
      'Zx81-abcdefgh-77',
    ];
    expect(serverSecrets([child({}, args)], [])).toEqual([]);
  });

  test('contain the variables that the configuration refers to', () => {
    expect(
      serverSecrets(
        [],
        [
          ['TOKEN_OF_ARGS', 'abcd'],
          ['HOME', '/home/joe'],
        ],
      ),
    ).toEqual(['abcd', base64('abcd')]);
  });

  test.each([
    ['PASSWORD', 'hunter2'],
    ['DB_PASS', 'correcthorse'],
    ['GITHUB_PAT', 'abcde'],
    ['X', 'abracadabra1'],
    ['X', 's3cr3t-value-123456'],
    ['SLACK_WEBHOOK', 'https://hooks.example/a/b'],
    ['X', 'https://hooks.example/a/T0123456789abcdefghij'],
    ['ID', '123456789012'],
  ])('%s=%s is one', (name, value) => {
    expect(isSecret(name, value)).toBe(true);
  });

  test.each([
    ['DEBUG', '1'],
    ['USE_AUTH', 'true'],
    ['AUTH_PORT', '8080'],
    ['PASSWORD', 'abc'],
    ['NODE_ENV', 'production'],
    ['AWS_REGION', 'us-east-1'],
    ['LANG', 'en_US.UTF-8'],
    ['NOTES', '/home/joe/notes'],
    ['NOTES', 'C:\\Users\\joe\\notes'],
    ['JIRA_URL', 'https://company.example.net'],
    ['AUTHOR', 'jane'],
    ['Accept', 'application/json, text/event-stream'],
    ['Content-Type', 'application/json; charset=utf-8'],
  ])('%s=%s is none: masking it would damage other texts', (name, value) => {
    expect(isSecret(name, value)).toBe(false);
  });
});
