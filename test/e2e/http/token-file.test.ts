import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { legacy, send } from '../../support/http-client.ts';
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFolder } from '../files.ts';

const KEPT = 'the tokens stay as they were';

interface NewToken {
  readonly token: string;
  readonly line: string;
}

async function newToken(caller: string): Promise<NewToken> {
  const { code, stdout, stderr } = await runCli(['token', caller]);
  expect(code).toBe(0);
  expect(stderr).toContain(`give it to ${caller}`);
  const [token = '', line = '', ...rest] = stdout.split('\n');
  expect(rest).toEqual(['']);
  expect(token).toMatch(/^mcp_[\w-]{43}$/);
  expect(line).toMatch(new RegExp(`^${caller} [0-9a-f]{64} created \\d{4}-\\d\\d-\\d\\d$`));
  return { token, line };
}

/** A gateway with a file of tokens, which has these lines. */
async function serve(lines: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const file = path.join(newFolder(), 'tokens');
  writeFileSync(file, `# callers\n${lines.join('\n')}\n`);
  return { file, http: await startWith(file, env) };
}

const startWith = (file: string, env: Readonly<Record<string, string>> = {}) =>
  startHttpProcess({ args: ['--http=127.0.0.1:0'], env: { MCP_HTTP_TOKEN_FILE: file, ...env } });

/** The status of a request with a token. */
async function statusOf({ url }: HttpProcess, token: string): Promise<number> {
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
  return (await send(url, { body: legacy('ping'), headers })).status;
}

const countOf = (http: HttpProcess, text: string) => http.stderr().split(text).length - 1;

test('callers use tokens that the command created, several each, beside those of variables', async () => {
  const [alice, other, bob] = [await newToken('alice'), await newToken('alice'), await newToken('bob')];
  const env = { MCP_HTTP_TOKEN_ENV: 'alice=A_TOKEN', A_TOKEN: 'token-of-alice-0123' };
  const { http } = await serve([alice.line, other.line, bob.line], env);
  const tokens = [alice.token, other.token, bob.token, env.A_TOKEN];
  for (const token of tokens) expect(await statusOf(http, token)).toBe(200);
  const [, hash = ''] = alice.line.split(' ');
  for (const token of ['', hash, `${alice.token}x`, alice.token.slice(1)])
    expect(await statusOf(http, token)).toBe(401);
  await expect
    .poll(() => [...http.stderr().matchAll(/"caller":"(\w+)"/g)].map(([, caller]) => caller))
    .toEqual(['alice', 'alice', 'bob', 'alice']);
  for (const token of tokens) expect(http.stderr()).not.toContain(token);
});

test('a change applies by itself, also by another file in its place, and a bad one is named once', async () => {
  const [alice, bob] = [await newToken('alice'), await newToken('bob')];
  const { file, http } = await serve([alice.line]);
  writeFileSync(`${file}.new`, `${alice.line}\n${bob.line}\n`);
  renameSync(`${file}.new`, file);
  await expect.poll(() => statusOf(http, bob.token)).toBe(200);

  writeFileSync(file, `${alice.line}\n\nbob ${bob.token}\n`);
  await expect.poll(http.stderr).toContain(`${KEPT}: line 3: expected a caller`);
  rmSync(file);
  await expect.poll(http.stderr).toContain(`${KEPT}: expected a file that can be read (ENOENT)`);
  writeFileSync(file, '# nobody\n');
  await expect.poll(http.stderr).toContain(`${KEPT}: expected a token`);
  for (const { token } of [alice, bob]) expect(await statusOf(http, token)).toBe(200);

  writeFileSync(file, `${bob.line}\n`);
  await expect.poll(() => statusOf(http, alice.token)).toBe(401);
  expect(await statusOf(http, bob.token)).toBe(200);
  expect(countOf(http, KEPT)).toBe(3);
  expect(countOf(http, 'http.token_file: the tokens were read again; callers: 1, tokens: 1')).toBe(1);
  expect(http.stderr()).not.toContain(bob.token);
});

posixTest('links')('a change of a mounted Secret applies', async () => {
  const [alice, bob] = [await newToken('alice'), await newToken('bob')];
  const folder = newFolder();
  for (const [version, { line }] of Object.entries({ v1: alice, v2: bob })) {
    mkdirSync(path.join(folder, version));
    writeFileSync(path.join(folder, version, 'tokens'), line);
  }
  symlinkSync('v1', path.join(folder, '..data'));
  symlinkSync('..data/tokens', path.join(folder, 'tokens'));
  const http = await startWith(path.join(folder, 'tokens'));
  expect(await statusOf(http, alice.token)).toBe(200);
  symlinkSync('v2', path.join(folder, '..data_tmp'));
  renameSync(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
  await expect.poll(() => statusOf(http, alice.token)).toBe(401);
  expect(await statusOf(http, bob.token)).toBe(200);
});

posixTest('moreSignals')(
  'SIGHUP applies a change at once, also if the rest of the configuration is damaged',
  async () => {
    const [alice, bob] = [await newToken('alice'), await newToken('bob')];
    const folder = newFolder();
    const [file, config] = [path.join(folder, 'tokens'), path.join(folder, 'config.yaml')];
    writeFileSync(file, `${alice.line}\n${bob.line}\n`);
    writeFileSync(config, 'http: { token_file: tokens }');
    const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
    expect(await statusOf(http, alice.token)).toBe(200);
    writeFileSync(config, 'http: [');
    writeFileSync(file, bob.line);
    http.kill('SIGHUP');
    await expect.poll(http.stderr).toContain('the tokens were read again');
    expect(await statusOf(http, alice.token)).toBe(401);
    await expect.poll(http.stderr).toContain('so nothing was changed');

    writeFileSync(config, 'http: { token_file: tokens }');
    writeFileSync(file, 'bob');
    http.kill('SIGHUP');
    await expect.poll(http.stderr).toContain('the configuration was read again');
    expect(await statusOf(http, bob.token)).toBe(200);
    expect(countOf(http, KEPT)).toBe(1);
  },
);

test('a file that cannot be used is a problem of the configuration at the start', async () => {
  const file = path.join(newFolder(), 'tokens');
  writeFileSync(file, '# callers\nalice secret-token\n');
  const { code, stderr } = await runCli(['--http=127.0.0.1:0'], { env: { MCP_HTTP_TOKEN_FILE: file } });
  expect(code).toBe(1);
  expect(stderr).toContain(`MCP_HTTP_TOKEN_FILE: got ${JSON.stringify(file)}, line 2: expected a caller, the SHA-256`);
  expect(stderr).not.toContain('secret-token');
});

test.for([[], ['alice', 'bob'], ['local'], ['oauth:alice'], ['two words']])('token %j is bad usage', async (words) => {
  const { code, stdout, stderr } = await runCli(['token', ...words]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^token needs a caller/);
});
