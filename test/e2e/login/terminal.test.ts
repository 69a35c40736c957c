import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { freePort } from '../../support/oauth-client.ts';
import { until } from '../../support/until.ts';
import { newHome, open } from './kit.ts';

/** The program `script` of other systems has other options. */
const linuxTest = test.runIf(process.platform === 'linux');

const SECRET = 'tHe-SeCrEt-0f-the-client';

/** A person at a terminal, whose browser writes down how it was started. */
async function start() {
  const issuer = await FakeIssuer.start();
  const auth = { client_id: 'registered', client_secret: `\${NOTES_SECRET}`, callback_port: await freePort() };
  const own = await newHome({ notes: `${issuer.origin}/notes` }, auth);
  const opened = path.join(own.home, 'opened');
  const browser = path.join(own.home, 'xdg-open');
  writeFileSync(
    browser,
    `#!/bin/sh\nenv > "$HOME/env"\nprintf '%s\\n' "$@" > "$HOME/new"\nmv "$HOME/new" "$HOME/opened"\n`,
  );
  chmodSync(browser, 0o755);
  const env = {
    TERM: 'xterm-256color',
    NOTES_SECRET: SECRET,
    OPENAI_API_KEY: 'sk-proj-E2eKey0123456789abcdefghij',
  };
  const terminalPath = `${own.home}:${process.env.PATH}`;
  const login = (args: readonly string[] = [], path = terminalPath) =>
    own.login('notes', { terminalPath: path, env, args });
  return { issuer, home: own.home, login, opened };
}

linuxTest('opens the browser, without a shell and without keys, and waits for it', async () => {
  const { issuer, login, opened, home } = await start();
  const { url, ended } = login();
  const shown = await url;
  await until(() => existsSync(opened));
  expect(readFileSync(opened, 'utf8')).toBe(`${shown}\n`);
  const env = readFileSync(path.join(home, 'env'), 'utf8');
  expect(env).toContain(`HOME=${home}\n`);
  expect(env).not.toMatch(/OPENAI_API_KEY|NOTES_SECRET/);
  await open(issuer.callbackFor(shown));
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(stdout).toContain(`Signed in to notes: ${issuer.origin}`);
  expect(stdout).not.toContain(SECRET);
});

linuxTest('--no-browser opens none, and a browser that cannot be started is no problem', async () => {
  const { issuer, login, opened, home } = await start();
  const { url, ended } = login(['--no-browser']);
  await open(issuer.callbackFor(await url));
  expect((await ended).code).toBe(0);
  expect(existsSync(opened)).toBe(false);

  const again = login([], path.join(home, 'empty'));
  await open(issuer.callbackFor(await again.url));
  expect((await again.ended).code).toBe(0);
});

linuxTest('accepts a pasted URL that is longer than a line of a terminal, and does not show it', async () => {
  const { issuer, login } = await start();
  const { url, stdin, stderr, ended } = login(['--no-browser']);
  const code = 'c0de-'.repeat(1500);
  const callback = issuer.callbackFor(await url, { code });
  stdin.write('are you reading?\r');
  await until(() => stderr().includes('not a URL'));
  stdin.write(`${callback}\r`);
  expect((await ended).code).toBe(0);
  expect(issuer.tokenRequests).toMatchObject([{ parameters: { code } }]);
  expect((await ended).stdout).not.toContain('c0de');
});

linuxTest('Ctrl-D does not end the wait', async () => {
  const { issuer, login } = await start();
  const { url, stdin, ended } = login(['--no-browser']);
  const callback = issuer.callbackFor(await url);
  stdin.write('\u0004');
  expect(await open(callback.replace('state=', 'state=x'))).toBe(400);
  expect(await open(callback)).toBe(200);
  expect((await ended).code).toBe(0);
});

linuxTest('Ctrl-C ends it with 130, although lines are read without the terminal', async () => {
  const { login } = await start();
  const { url, stdin, stderr, ended } = login(['--no-browser']);
  await url;
  stdin.write('are you reading?\r');
  await until(() => stderr().includes('not a URL'));
  stdin.write('\u0003');
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(stdout).not.toContain('failed');
});
