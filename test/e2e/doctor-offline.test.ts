import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { configure } from './gateway/servers.ts';
import { fakeApi } from './serve.ts';

interface Checked {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly detail: string }[];
}

async function check(yaml: object | string, env: Readonly<Record<string, string>> = {}) {
  const config = newFile('config.yaml', typeof yaml === 'string' ? yaml : JSON.stringify(yaml));
  return checkFile(config, env);
}

async function checkFile(config: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runCli(['doctor', '--offline', '--json', '--config', config], { env });
  expect(stderr).toBe('');
  const { ok, checks } = JSON.parse(stdout) as Checked;
  expect(code).toBe(ok ? 0 : 1);
  const of = (verdict: string) => checks.filter((one) => one.verdict === verdict).map(({ name }) => name);
  return { code, checks, stdout, of };
}

const NODE = { name: 'one', command: process.execPath };

test('a complete setup is checked without a secret, a request or a started server', async () => {
  const api = await fakeApi();
  const issuer = await FakeIssuer.start();
  const [, line] = (await runCli(['token', 'alice'])).stdout.split('\n');
  const tokens = newFile('tokens', String(line));
  const { config, started } = configure(['one'], {
    yaml: {
      http: {
        listen: '0.0.0.0:8080',
        token_file: tokens,
        token_env: { bob: 'BOB_TOKEN' },
        oauth: { issuer: issuer.origin, audience: 'https://mcp.example.com/mcp' },
        quota: { calls_per_day: 5, store: 'redis://127.0.0.1:1' },
      },
      access: { alice: { servers: 'all' }, bob: {} },
      audit: { file: path.join(newFolder(), 'audit.jsonl') },
      openai: { base_url: api.url },
    },
  });
  const { code, checks, of } = await checkFile(config);
  expect({ code, failed: of('failed'), warning: of('warning') }).toEqual({ code: 0, failed: [], warning: [] });
  expect(of('skipped')).toEqual(['quota', 'oauth', 'api']);
  expect(of('note')).toEqual(expect.arrayContaining(['variable', 'key']));
  expect(checks).toContainEqual({ name: 'tokens', verdict: 'ok', detail: '2 tokens of 2 callers' });
  expect(checks.find(({ name }) => name === 'server one')?.detail).toMatch(/exists; it was not started \(--offline\)$/);
  expect(checks.find(({ name }) => name === 'variable')?.detail).toMatch(/^BOB_TOKEN: is not set here, .* bob /);
  expect([api.requests.length, issuer.seen.length, started()]).toEqual([0, 0, []]);
});

test('prints lines for people, and fails for a command that does not exist', async () => {
  const config = newFile('config.yaml', 'servers: [{ name: one, command: no-such-command-at-all }]');
  const { code, stdout } = await runCli(['doctor', '--offline', '--config', config]);
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^FAIL {2}server one: there is no program no-such-command-at-all in the folders of PATH; install/m,
  );
  expect(stdout).toMatch(/^note {2}key: OPENAI_API_KEY is not set here; this check needs no key$/m);
  expect(stdout).toMatch(/^skip {2}api: not asked \(--offline\)$/m);
});

test.each<[string, object, RegExp]>([
  ['a folder that does not exist', { ...NODE, cwd: '/no/such/folder' }, /there is no folder .*folder \(cwd\)/],
  [
    'arguments in the command',
    { name: 'one', command: 'node --version' },
    /put the arguments of the command into args/,
  ],
  ['a path that does not exist', { name: 'one', command: './server' }, /there is no program \.\/server in /],
])('a server with %s is a failure', async (_, server, detail) => {
  const { code, checks } = await check({ servers: [server] });
  expect(code).toBe(1);
  expect(checks.find(({ name }) => name === 'server one')).toMatchObject({
    verdict: 'failed',
    detail: expect.stringMatching(detail),
  });
});

posixTest('modes')('a command is looked for where its server would find it', async () => {
  const folder = newFolder();
  for (const name of ['bin', 'not-a-program']) mkdirSync(path.join(folder, name));
  for (const [name, mode] of [
    ['tool', 0o755],
    ['text', 0o644],
  ] as const) {
    writeFileSync(path.join(folder, 'bin', name), '#!/bin/sh\n');
    chmodSync(path.join(folder, 'bin', name), mode);
  }
  const PATH = `${path.join(folder, 'bin')}:${folder}`;
  const servers = ['tool', 'text', 'not-a-program', './bin/tool'].map((command, index) => ({
    name: `s${index}`,
    command,
    cwd: folder,
    envs: { PATH },
  }));
  const { checks } = await check({ servers });
  expect(checks.filter(({ name }) => /^server s/.test(name)).map(({ verdict }) => verdict)).toEqual([
    'ok',
    'failed',
    'failed',
    'ok',
  ]);
});

test('variables of servers that are not set are notes, which name them', async () => {
  const servers = [
    { name: 'remote', url: `\${REMOTE_URL}`, headers: { Authorization: `Bearer \${REMOTE_TOKEN}` } },
    { name: 'host', url: `https://\${HOST_NAME}/mcp` },
    { ...NODE, envs: { KEY: `\${SERVER_KEY}` } },
    { name: 'tool', command: `\${TOOL}` },
  ];
  const { code, checks, of } = await check({ servers });
  expect(code).toBe(0);
  const notes = checks.filter(({ name }) => name === 'variable').map(({ detail }) => detail);
  expect(notes.map((note) => /variable (\w+) is not set/.exec(note)?.[1])).toEqual([
    'REMOTE_URL',
    'REMOTE_TOKEN',
    'HOST_NAME',
    'SERVER_KEY',
    'TOOL',
  ]);
  expect(of('skipped')).toEqual(['server remote', 'server host', 'server tool', 'api']);
});

test('a value with a variable that is not set is not checked, wherever the variable is in it', async () => {
  const values = [
    { url: `\${X}` },
    { url: `\${X}/mcp` },
    { url: `\${X}://mcp.example.com/mcp` },
    { url: `https://mcp.example.com:\${X}/mcp` },
    { command: `\${X}/bin/server` },
    { ...NODE, envs: { PATH: `\${X}/bin` }, command: 'node' },
  ];
  const { checks, of } = await check({ servers: values.map((value, index) => ({ ...value, name: `s${index}` })) });
  expect(of('failed')).toEqual([]);
  const servers = checks.filter(({ name }) => /^server s/.test(name));
  expect(servers.map(({ verdict }) => verdict)).toEqual(values.map(() => 'skipped'));
  const [url, command] = [/^its url has a variable that is not set here$/, /^its (?:command|envs\.PATH) has a /];
  for (const [index, { detail }] of servers.entries()) expect(detail).toMatch(index < 4 ? url : command);
});

test('the same variables are problems for a start', async () => {
  const config = newFile('config.yaml', `servers: [{ name: one, url: "\${REMOTE_URL}" }]`);
  const { code, stderr } = await runCli(['--http=127.0.0.1:0', '--config', config]);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('REMOTE_URL is not set') });
});

test.each<[string, object, RegExp]>([
  ['a file of tokens', { http: { token_file: '/no/such/tokens' } }, /http\.token_file: .*ENOENT/],
  ['a lock', { servers: [NODE], gateway: { lock: '/no/such/lock.json' } }, /gateway\.lock: .*ENOENT/],
  ['an address without a token', { http: { listen: '0.0.0.0:1' } }, /http\.listen: .*so a token is required/],
  ['a section http.oauth', { http: { oauth: { issuer: 'https://a.example' } } }, /http\.oauth\.audience: required/],
  ['a key', { http: { token_fiel: 'x' } }, /http\.token_fiel/],
])('%s that is wrong is a failure', async (_, yaml, problem) => {
  const { code, of, stdout } = await check(yaml);
  expect({ code, failed: new Set(of('failed')) }).toEqual({ code: 1, failed: new Set(['configuration']) });
  expect(stdout).toMatch(problem);
});

test('the lock is compared with the names of the servers', async () => {
  const lock = newFile('lock.json', JSON.stringify({ version: 1, servers: { old: { tools: {} } } }));
  const { code, checks } = await check({ servers: [NODE], gateway: { lock } });
  expect(code).toBe(0);
  expect(checks.find(({ name }) => name === 'lock')).toMatchObject({
    verdict: 'warning',
    detail: expect.stringMatching(
      /^0 approved tools; no tool of one is approved, .*tools --lock.*; it has tools of old, which is not configured$/,
    ),
  });
});

test('a caller without a token is a warning', async () => {
  const file = newFile('tokens', String((await runCli(['token', 'alice'])).stdout.split('\n')[1]));
  const { code, checks } = await check({ http: { token_file: file }, access: { alcie: { operator: true } } });
  expect(code).toBe(0);
  expect(checks).toContainEqual(
    expect.objectContaining({ verdict: 'warning', detail: expect.stringContaining('alcie (did you mean alice?)') }),
  );
});

test('a file of audit lines is not created, and its folder must exist', async () => {
  const file = path.join(newFolder(), 'audit.jsonl');
  expect((await check({ audit: { file } })).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect((await check({ audit: { file: '/no/such/folder/audit.jsonl' } })).of('failed')).toEqual(['audit']);
});

test('a key that cannot be used is a failure, and is not shown', async () => {
  const { of, stdout } = await check('{}', { OPENAI_API_KEY: 'sk-your-api-key' });
  expect(of('failed')).toEqual(['key']);
  expect(stdout).not.toContain('sk-your-api-key');
});
