import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FakeIssuer } from '../../support/fake-issuer.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';
import { newHome, open } from './kit.ts';

/** The program `script` of other systems has other options. */
const linuxTest = test.runIf(process.platform === 'linux');

const SECRET = 'tHe-SeCrEt-0f-the-client';

/** A person at a terminal, whose browser writes down how it was started. */
async function start() {
  const issuer = await FakeIssuer.start();
  const client = { client_id: 'registered', client_secret: `\${NOTES_SECRET}` };
  const auth = { issuer: issuer.origin, ...client, callback_port: await freePort() };
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

linuxTest(
  '--no-browser opens none; a pasted URL that is longer than a line of a terminal is accepted, and not shown',
  async () => {
    const { issuer, login, opened } = await start();
    const { url, stdin, stderr, ended } = login(['--no-browser']);
    const code = 'c0de-'.repeat(1500);
    const callback = issuer.callbackFor(await url, { code });
    stdin.write('are you reading?\r');
    await until(() => stderr().includes('Not used'));
    stdin.write(`${callback}\r`);
    expect((await ended).code).toBe(0);
    expect(issuer.tokenRequests).toMatchObject([{ parameters: { code } }]);
    expect((await ended).stdout).not.toContain('c0de');
    expect(existsSync(opened)).toBe(false);
  },
);

linuxTest('Ctrl-C ends it with 130, although lines are read without the terminal', async () => {
  const { login } = await start();
  const { url, stdin, stderr, ended } = login(['--no-browser']);
  await url;
  stdin.write('are you reading?\r');
  await until(() => stderr().includes('Not used'));
  stdin.write('\u0003');
  const { code, stdout } = await ended;
  expect(code).toBe(130);
  expect(stdout).not.toContain('failed');
});
