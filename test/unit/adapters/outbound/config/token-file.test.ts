import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hashOfToken } from '../../../../../src/adapters/outbound/config/http-config.ts';
import { givenConfig } from '../../../../support/given-config.ts';

const { at, acceptedConfig, problemsOf } = givenConfig();

const sha = (token: string) => hashOfToken(token).toString('hex');
const [A, B, C] = ['a', 'b', 'c'].map(sha) as [string, string, string];

const HTTP = { '--http': '127.0.0.1:0' };
const CONFIG = { http: { token_file: 'tokens' } };

const write = (text: string | Buffer) => writeFileSync(at('tokens'), text);

/** The tokens of a file, as `caller hash`. */
async function tokensOf(text: string) {
  write(text);
  const { http } = await acceptedConfig(CONFIG, {}, HTTP);
  const file = http?.tokenFile;
  return file !== undefined && 'tokens' in file
    ? file.tokens.map(({ caller, hash }) => `${caller} ${hash.toString('hex')}`)
    : file;
}

/** The problems of a file, without the path that each has. */
async function messagesOf(text: string | Buffer, environment: Readonly<Record<string, string>> = {}, http = {}) {
  write(text);
  const problems = await problemsOf({ http: { ...CONFIG.http, ...http } }, environment, HTTP);
  return problems.map(({ where, value, message }) => {
    expect(where).toBe('http.token_file');
    expect(value).toBe(at('tokens'));
    return message;
  });
}

describe('a file of tokens', () => {
  test('has a line for each token, several for a caller, comments and notes', async () => {
    const text = `# callers\n\nalice ${A}\n  alice\t${B}  second laptop # of 2026\r\nbob@example.com ${C.toUpperCase()} created 2026-01-05`;
    expect(await tokensOf(text)).toEqual([`alice ${A}`, `alice ${B}`, `bob@example.com ${C}`]);
  });

  test('may begin with the mark of UTF-8, and end in any way', async () => {
    expect(await tokensOf(`\uFEFFalice ${A}`)).toEqual([`alice ${A}`]);
    expect(await tokensOf(`alice ${A}\n\n#`)).toEqual([`alice ${A}`]);
  });

  test('is not read without --http', async () => {
    write('nonsense');
    expect(await acceptedConfig(CONFIG)).not.toHaveProperty('http');
  });

  const LINE = expect.stringContaining('expected a caller, the SHA-256 of the token in hexadecimal');
  test.each<[string, string, unknown]>([
    ['a token alone', `alice ${A}\nmcp_secret\n`, expect.stringMatching(/^line 2: expected a caller/)],
    ['a token in place of its hash', 'alice mcp_secret', LINE],
    ['a hash that is cut', `alice ${A.slice(0, 63)}`, LINE],
    ['a hash with more', `alice ${A}0`, LINE],
    ['a hash without a caller', A, LINE],
    ['a colon after the caller', `alice: ${A}`, LINE],
    ['a name of OAuth', `oauth:alice ${A}`, LINE],
    ['a group', `group:staff ${A}`, LINE],
    ['the user of this machine', `local ${A}`, expect.stringMatching(/^line 1: local is the user of this machine/)],
    ['a hash of nothing', `alice ${sha('')}`, expect.stringMatching(/^line 1: this is the SHA-256 of an empty text/)],
    ['a line twice', `alice ${A}\n\nalice ${A} again`, 'line 3: repeats line 1; remove one of them'],
    ['a token of two callers', `alice ${A}\nbob ${A}`, expect.stringMatching(/^line 2: has the token of line 1; each/)],
    ['no line', '', expect.stringMatching(/^expected a token; write a line/)],
    ['comments only', '# alice\n\n', expect.stringMatching(/^expected a token; write a line/)],
  ])('with %s is a problem, which shows no token', async (_, text, expected) => {
    const messages = await messagesOf(text);
    expect(messages).toEqual([expected]);
    expect(JSON.stringify(messages)).not.toContain('secret');
  });

  test('of another encoding is a problem', async () => {
    expect(await messagesOf(Buffer.from(`alice ${A}`, 'utf16le'))).toEqual(['expected text in UTF-8']);
  });

  test('that does not exist is a problem', async () => {
    const [problem] = await problemsOf(CONFIG, {}, HTTP);
    expect(problem?.message).toBe('expected a file that can be read (ENOENT)');
  });

  test('has its first problems named, and the others counted', async () => {
    const [message = ''] = await messagesOf('bad\n'.repeat(40));
    expect(message).toMatch(/^line 1: .*; line 5: .*; and 35 more$/);
  });
});

describe('with tokens of variables, too', () => {
  const environment = { A_TOKEN: 'a', B_TOKEN: 'b' };
  const http = { token_env: { alice: 'A_TOKEN', bob: 'B_TOKEN' } };

  test('a caller may be in both, also with the same token', async () => {
    write(`alice ${A}\nalice ${C}`);
    const config = await acceptedConfig({ http: { ...CONFIG.http, ...http } }, environment, HTTP);
    expect(config.http?.tokens).toEqual([
      { caller: 'alice', hash: hashOfToken('a') },
      { caller: 'bob', hash: hashOfToken('b') },
    ]);
    expect(config.notices).toEqual([]);
  });

  test('a token of another caller is a problem', async () => {
    const [message] = await messagesOf(`alice ${B}`, environment, http);
    expect(message).toMatch(/^line 1: has the token of bob \(http\.token_env\); each caller/);
  });

  test('the single variable need not be set, because the container image names one', async () => {
    write(`alice ${A}`);
    const env = { MCP_HTTP_TOKEN_ENV: 'MCP_TOKEN' };
    const { http, notices } = await acceptedConfig(CONFIG, env, HTTP);
    expect(http?.tokens).toEqual([]);
    expect(notices).toEqual([
      { where: 'MCP_TOKEN', message: expect.stringMatching(/^is empty or not set, so that there/) },
    ]);
    const problems = await problemsOf({}, env, HTTP);
    expect(problems).toMatchObject([{ where: 'MCP_TOKEN', message: expect.stringMatching(/expects a token in it$/) }]);
  });
});

test('an address that others can reach needs no variable', async () => {
  write(`alice ${A}`);
  const { http } = await acceptedConfig(CONFIG, {}, { '--http': '0.0.0.0:80' });
  expect(http).toMatchObject({ minTokenLength: 20 });
});

describe('callers that are named elsewhere', () => {
  const config = {
    access: { alice: { operator: true }, alcie: {}, 'group:staff': {}, 'oauth:carol': {}, local: {}, dora: null },
    http: {
      ...CONFIG.http,
      quota: { callers: { alice: { calls_per_day: 1 }, zoe: { calls_per_day: 1 } } },
      oauth: { groups_claim: 'groups', issuer: 'https://a.example', audience: 'https://b.example/mcp' },
    },
    grounding: { callers: ['alice', 'oauth:carol'] },
  };

  test('are those of the file, and others are named', async () => {
    write(`alice ${A}`);
    const { notices } = await acceptedConfig(config, {}, HTTP);
    expect(notices.map(({ where, message }) => `${where}: ${message}`)).toEqual([
      'access: has no effect for callers without a token (http.token_env, http.token_file): alcie (did you mean alice?)',
      'http.quota.callers: has no effect for callers without a token (http.token_env, http.token_file): zoe',
    ]);
  });

  test('are not compared without --http', async () => {
    expect((await acceptedConfig(config)).notices).toEqual([]);
  });
});
