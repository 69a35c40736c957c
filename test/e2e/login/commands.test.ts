import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { freePort } from '../../support/free-port.ts';
import { posixTest } from '../../support/platform.ts';
import { newHome, open } from './kit.ts';

/** One server, `notes`, with a secret in its URL, and its issuer. */
async function start(auth?: object) {
  const issuer = await FakeIssuer.start();
  const url = `${issuer.origin}/aB3dE6gH9jK2mN5pQ8sT/mcp`;
  return { issuer, url, home: await newHome({ notes: url }, auth) };
}

test('login, logins, doctor and logout: a file with the login is written, listed, checked and deleted', async () => {
  const { issuer, url, home } = await start();
  expect((await home.run('logins')).stdout).toMatch(/^There are no logins/);
  expect((await home.run('logout', 'notes')).stdout).toBe('There is no login to notes.\n');
  expect(existsSync(home.folder)).toBe(false);

  const waiting = home.login('notes');
  const page = await waiting.url;
  expect(new URL(page).searchParams.get('resource')).toBe(url);
  expect(await open(issuer.callbackFor(page).replace('state=', 'state=x'))).toBe(400);
  expect(await open(issuer.callbackFor(page))).toBe(200);
  const { code, stdout, stderr } = await waiting.ended;
  const words = `notes: ${issuer.origin}, scopes read, until [-\\dT:.]+Z, then renewed`;
  expect(stdout).toMatch(new RegExp(`^Signed in to ${words}\\n$`));
  expect({ code, stderr: stderr.split('\n') }).toEqual({
    code: 0,
    stderr: [
      'Sign in to notes in the browser, at this URL:',
      page,
      expect.stringMatching(/^If the browser cannot open 127\.0\.0\.1 afterwards, paste that address here/),
      '',
    ],
  });
  const [file = '', ...others] = readdirSync(home.folder);
  expect([file, others]).toEqual([expect.stringMatching(/^[\da-f]{32}\.json$/), []]);

  const requests = issuer.seen.length;
  expect((await home.run('logins')).stdout).toMatch(new RegExp(`^${words}\\n$`));
  expect(JSON.parse((await home.run('logins', '--json')).stdout)).toMatchObject({ logins: [{ server: 'notes' }] });
  expect(issuer.seen).toHaveLength(requests);
  if (process.platform !== 'win32') {
    chmodSync(path.join(home.folder, file), 0o640);
    const { stdout: checks } = await home.run('doctor');
    expect(checks).toMatch(/^WARN {2}login notes: .* other users of this machine have access to it/m);
  }

  const deleted = { code: 0, signal: null, stderr: '', stdout: 'The login to notes was deleted.\n' };
  expect(await home.run('logout', 'notes')).toEqual(deleted);
  expect(new Set(issuer.revoked)).toEqual(new Set(['refresh-1', 'access-1']));
  expect(readdirSync(home.folder)).toEqual([]);
});

test('a second login registers no second client, and waits on after wrong callbacks', async () => {
  const { issuer, home } = await start();
  const signIn = async (wrong: readonly string[] = []) => {
    const { url, ended } = home.login('notes');
    const callback = issuer.callbackFor(await url);
    for (const path of wrong) expect(await open(callback.replace('/callback', path))).toBe(400);
    expect(await open(callback)).toBe(200);
    return ended;
  };
  expect((await signIn(['/other', '/', '/callback/more'])).stderr).not.toContain('unknown');
  const { code, stderr } = await signIn();
  expect(code).toBe(0);
  expect(stderr).toMatch(/If its page says that the client is unknown, run first: .* logout notes/);
  expect(issuer.registrations).toHaveLength(1);
  expect(issuer.tokenRequests).toHaveLength(2);
});

// S83
test('the secret of the client and the address come from a command and a variable', async () => {
  const issuer = await FakeIssuer.start();
  const secret = `\${command:'${process.execPath}' -e 'console.log("tHe-SeCrEt-of-the-vault")'}`;
  const auth = { issuer: issuer.origin, client_id: 'mine', client_secret: secret, callback_port: await freePort() };
  const home = await newHome({ notes: `${issuer.origin}/\${TENANT}` }, auth);
  const { url, ended } = home.login('notes', { env: { TENANT: 'notes' } });
  expect(new URL(await url).searchParams.get('resource')).toBe(`${issuer.origin}/notes`);
  await open(issuer.callbackFor(await url));
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr: stderr.includes('tHe-SeCrEt'), stdout: stdout.includes('tHe-SeCrEt') }).toEqual({
    code: 0,
    stderr: false,
    stdout: false,
  });
  const [sent] = issuer.tokenRequests;
  const inHeader = Buffer.from(String(sent?.authorization).replace('Basic ', ''), 'base64').toString();
  expect(`${inHeader} ${JSON.stringify(sent?.parameters)}`).toContain('tHe-SeCrEt-of-the-vault');
});

test('a login that the issuer refuses ends with 1, and the reason', async () => {
  const { issuer, home } = await start();
  const { url, ended } = home.login('notes');
  await open(issuer.callbackFor(await url, { code: '', error: 'access_denied' }));
  const { code, stdout, stderr } = await ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(
    `Signing in to notes failed: ${issuer.origin} refused the login: access_denied. Nothing was`,
  );
});

posixTest('signals')('Ctrl-C ends a login with 130, and frees the port', async () => {
  const { home } = await start();
  const { url, kill, ended } = home.login('notes');
  await url;
  kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130, stdout: '', stderr: expect.not.stringContaining('failed') });
  await expect(open(home.callback)).rejects.toThrow();
});

test('a default port of the callback that is in use is replaced by a free one', async () => {
  const { issuer, home } = await start({});
  const server = createServer().listen(3918, '127.0.0.1');
  onTestFinished(() => void server.close());
  // Another process may already use it.
  await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {});
  const { url, ended } = home.login('notes');
  expect(new URL(await url).searchParams.get('redirect_uri')).not.toContain(':3918/');
  await open(issuer.callbackFor(await url));
  expect((await ended).code).toBe(0);
});
