import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { newFile } from '../files.ts';
import { closedPort } from '../serve.ts';
import { newHome, open, type SignInHome } from './kit.ts';

/** One server, `notes`, and its issuer. */
async function start(auth?: object) {
  const issuer = await FakeIssuer.start();
  return { issuer, home: await newHome({ notes: `${issuer.origin}/notes` }, auth) };
}

async function signIn(issuer: FakeIssuer, { login }: SignInHome) {
  const waiting = login('notes');
  await open(issuer.callbackFor(await waiting.url));
  const ended = await waiting.ended;
  expect(ended.code).toBe(0);
  return ended;
}

const NOTES_SECRET = 'tHe-SeCrEt-0f-the-client';
const MACHINE = { grant: 'client_credentials', client_id: 'nightly', client_secret: `\${NOTES_SECRET}` };

const TOKENS = /access-\d|refresh-\d|code-1/;

describe('login', () => {
  test('ends with the callback, and leaves a file with the login', async () => {
    const { issuer, home } = await start();
    const { stdout, stderr } = await signIn(issuer, home);
    expect(stdout).toMatch(
      new RegExp(`^Signed in to notes: ${issuer.origin}, scopes read, until [-\\dT:.]+Z, then renewed\\n$`),
    );
    expect(stderr.split('\n')).toEqual([
      'Sign in to notes in the browser, at this URL:',
      expect.stringMatching(new RegExp(`^${issuer.origin}/authorization\\?`)),
      expect.stringMatching(/^If the browser then cannot open a page of 127\.0\.0\.1, paste the URL/),
      '',
    ]);
    expect(stdout + stderr).not.toMatch(TOKENS);
    expect(readdirSync(home.folder)).toEqual([expect.stringMatching(/^[\da-f]{32}\.json$/)]);
  });

  test('the pasted URL of the callback counts like the callback; other lines are ignored with a reason', async () => {
    const { issuer, home } = await start();
    const { url, stdin, ended } = home.login('notes');
    const right = issuer.callbackFor(await url);
    stdin.write(`what now?\n${right.replace('state=', 'state=x')}\n\n  ${right}  \r\n`);
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr.split('\n').slice(3, -1)).toEqual([
      `Not used: the line is not a URL that begins with ${home.callback}.`,
      'Not used: the URL is not the answer to this login: its state is another one.',
    ]);
  });

  test('the end of standard input does not end the wait', async () => {
    const { issuer, home } = await start();
    const { url, stdin, ended } = home.login('notes');
    stdin.end('a last line');
    const callback = issuer.callbackFor(await url);
    expect(await open(callback.replace('state=', 'state=x'))).toBe(400);
    expect(await open(callback)).toBe(200);
    expect((await ended).code).toBe(0);
  });

  test('a refusal of the issuer is shown without what controls a terminal, and keeps the login that existed', async () => {
    const { issuer, home } = await start();
    await signIn(issuer, home);
    const { url, ended } = home.login('notes');
    const more = { code: '', error: 'access_denied', error_description: 'not\u001B[31m you\u202E' };
    await open(issuer.callbackFor(await url, more));
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      `Signing in to notes failed: ${issuer.origin} refused the login: access_denied: not you. Nothing was changed;`,
    );
    expect((await home.run('logins')).stdout).toContain(`notes: ${issuer.origin}`);
  });

  test('a callback of another issuer ends it, and its code is sent nowhere', async () => {
    const { issuer, home } = await start();
    const { url, ended } = home.login('notes');
    await open(issuer.callbackFor(await url, { iss: 'https://evil.example.com', error: 'shown-nowhere' }));
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain(`the answer is not from ${issuer.origin}`);
    expect(stderr).not.toContain('shown-nowhere');
    expect(issuer.tokenRequests).toEqual([]);
  });

  test.each([
    ['notes', {}, 'There is no server "notes". Did you mean note?', 'note'],
    ['notes', { url: undefined, command: 'notes-server' }, 'it is a program on this machine'],
    ['notes', { headers: { AUTHORIZATION: 'Bearer of-a-test' } }, 'Remove that header to sign in'],
    ['notes', { url: 'http://notes.example.com/mcp', allow_insecure: true }, 'Use https://'],
    ['notes', { auth: MACHINE }, 'Remove auth.grant to sign in'],
  ])('of %s with %j is bad usage', async (server, over, message, name = server) => {
    const url = 'https://notes.example.com/mcp';
    const config = newFile('config.yaml', JSON.stringify({ servers: [{ name, url, ...over }] }));
    const { code, stdout, stderr } = await runCli(['login', server, '--config', config], { env: { NOTES_SECRET } });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/of-a-test|tHe-SeCrEt/);
  });

  posixTest('signals')('Ctrl-C ends it with 130, and frees the port', async () => {
    const { home } = await start();
    const { url, kill, ended } = home.login('notes');
    await url;
    kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).not.toContain('failed');
    await expect(open(home.callback)).rejects.toThrow();
  });

  test('the URL is printed as the issuer needs it, although the server has a secret in its URL', async () => {
    const issuer = await FakeIssuer.start();
    const secret = 'aB3dE6gH9jK2mN5pQ8sT';
    const home = await newHome({ notes: `${issuer.origin}/${secret}/mcp` });
    const { url } = home.login('notes');
    expect(new URL(await url).searchParams.get('resource')).toBe(`${issuer.origin}/${secret}/mcp`);
  });
});

describe('the port of the callback is in use', () => {
  const occupy = async (port: number) => {
    const server = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void server.close());
    // Another process may already use it.
    await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {});
  };

  test('one that is configured fails, and is named', async () => {
    const { home } = await start();
    const { port } = new URL(home.callback);
    await occupy(Number(port));
    const { code, stderr } = await home.run('login', 'notes');
    expect(code).toBe(1);
    expect(stderr).toContain(`the port ${port} cannot be used for the callback (EADDRINUSE)`);
    expect(stderr).toContain('auth.callback_port');
  });

  test('the default is replaced by a free port', async () => {
    const { issuer, home } = await start({});
    await occupy(3918);
    const { url, ended } = home.login('notes');
    expect(new URL(await url).searchParams.get('redirect_uri')).not.toContain(':3918/');
    await open(issuer.callbackFor(await url));
    expect((await ended).code).toBe(0);
  });
});

describe('logins and logout', () => {
  test('list the logins as text and JSON, revoke both tokens, and delete the file', async () => {
    const { issuer, home } = await start();
    await signIn(issuer, home);
    const { code, stdout } = await home.run('logins', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      logins: [
        {
          server: 'notes',
          url: `${issuer.origin}/notes`,
          issuer: issuer.origin,
          scopes: ['read'],
          expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          renewable: true,
        },
      ],
    });
    const requests = issuer.seen.length;
    expect((await home.run('logins')).stdout).toMatch(/^notes: .*, then renewed\n$/);
    expect(issuer.seen).toHaveLength(requests);

    const out = { code: 0, signal: null, stderr: '' };
    expect(await home.run('logout', 'notes')).toEqual({ ...out, stdout: 'The login to notes was deleted.\n' });
    expect(new Set(issuer.revoked)).toEqual(new Set(['refresh-1', 'access-1']));
    expect(readdirSync(home.folder)).toEqual([]);
    expect(await home.run('logout', 'notes')).toEqual({ ...out, stdout: 'There is no login to notes.\n' });
    expect((await home.run('logins')).stdout).toMatch(/^There are no logins/);
  });

  test.each([
    ['has no revocation', { revocation_endpoint: undefined }, /^$/],
    ['cannot revoke', {}, /^Not every token for notes was revoked: \S+\/revocation answered unsupported_token_type\. /],
  ])('logout deletes the login if the issuer %s', async (_, metadata, message) => {
    const { issuer, home } = await start();
    issuer.metadata = metadata;
    issuer.answers.set('/revocation', { status: 400, body: { error: 'unsupported_token_type' } });
    await signIn(issuer, home);
    const { code, stderr } = await home.run('logout', 'notes');
    expect(code).toBe(0);
    expect(stderr).toMatch(message);
    expect(readdirSync(home.folder)).toEqual([]);
  });

  test('neither creates the folder', async () => {
    const { home } = await start();
    await home.run('logins');
    await home.run('logout', 'notes');
    expect(existsSync(home.folder)).toBe(false);
  });
});

posixTest('modes')('doctor warns if others have access to a login', async () => {
  const { issuer, home } = await start();
  await signIn(issuer, home);
  const loginLine = async () => {
    const { stdout } = await home.run('doctor', '--offline');
    return stdout.split('\n').find((line) => line.includes('login notes'));
  };
  expect(await loginLine()).toMatch(new RegExp(`^ok {4}login notes: ${issuer.origin}, scopes read, until `));
  const [file = ''] = readdirSync(home.folder);
  chmodSync(path.join(home.folder, file), 0o640);
  expect(await loginLine()).toMatch(/^WARN {2}login notes: .* other users of this machine have access to it/);
});

test('doctor names a machine without its secret, and no login if there is none', async () => {
  const url = `http://127.0.0.1:${await closedPort()}/mcp`;
  const servers = [
    { name: 'bot', url, auth: MACHINE },
    { name: 'notes', url },
  ];
  const config = newFile('config.yaml', JSON.stringify({ servers }));
  const { stdout } = await runCli(['doctor', '--offline', '--config', config], { env: { NOTES_SECRET } });
  expect(stdout.split('\n').filter((line) => line.includes('  login '))).toEqual([
    'WARN  login bot: as the client nightly, without a person (client_credentials); no token',
  ]);
  expect(stdout).not.toContain(NOTES_SECRET);
});
