import path from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newKey, startAuthorizationServer } from '../../support/authorization-server.ts';
import { launchBrowser } from '../../support/browser.ts';
import { findBrowser } from '../../support/find-browser.ts';
import { freePort } from '../../support/free-port.ts';
import { send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { newFile, newFolder } from '../files.ts';
import { startOfficialServer } from './official-server.ts';

const TOKEN = 'token-of-alice-for-the-tests';
const KEY = Buffer.alloc(32, 7).toString('base64');

const executable = findBrowser();
if (executable === undefined) process.stderr.write('The tests of the login pages are skipped: there is no browser.\n');

describe.skipIf(executable === undefined)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser(executable as string);
  });
  afterAll(() => browser?.close());

  /** The built program in front of a server that requires a login, and a tab with the page of that login. */
  async function start(http: (port: number) => Promise<object>) {
    const { url } = await startOfficialServer();
    const port = await freePort();
    const config = {
      servers: [{ name: 'notes', url, login: 'per_caller' }],
      gateway: { logins: path.join(newFolder(), 'logins'), logins_key: '\u0024{KEY}' },
      http: await http(port),
    };
    const file = newFile('config.yaml', JSON.stringify(config));
    const args = [`--http=127.0.0.1:${port}`, '--config', file];
    await startHttpProcess({ args, env: { KEY, TOKEN, OPENAI_API_KEY: '' } });
    const context = await browser.createBrowserContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
    const address = `http://127.0.0.1:${port}/login/notes`;
    await page.goto(address);
    return { page, problems, address };
  }

  const untilText = (page: Page, part: string) =>
    expect.poll(() => page.$eval('main', (main) => main.innerText)).toContain(part);

  // S87, S88
  test('a caller with a token signs in, and deletes the login', async () => {
    const { page, problems, address } = await start(async () => ({ token_env: { alice: 'TOKEN' } }));
    const headers = { Authorization: `Bearer ${TOKEN}` };
    await page.type('#token', TOKEN);
    await page.click('#token-form button');
    await untilText(page, 'alice signs in to notes at ');
    await page.click('#sign-in');
    await untilText(page, 'alice is signed in to notes');
    const state = async () => JSON.parse((await send(address, { method: 'GET', headers })).text).state;
    expect(await state()).toBe('available');
    // The login is used.
    const body = { server: 'notes', toolName: 'echo', input: { text: 'hello' } };
    const called = await send(new URL('/mcp/call', address).href, { body, headers });
    expect(JSON.parse(called.text)).toEqual({ success: true, result: 'hello' });
    await page.goto(address);
    await page.type('#token', TOKEN);
    await page.click('#token-form button');
    await untilText(page, 'There is a login');
    await page.click('#remove');
    await untilText(page, 'The login was deleted.');
    expect(await state()).toBe('login_required');
    expect(problems).toEqual([]);
  });

  test('a caller of http.oauth signs in without a script', async () => {
    const { page, problems } = await start(async (port) => {
      const { issuer } = await startAuthorizationServer({ keys: [await newKey('team')], scope: 'ask' });
      const origin = `http://127.0.0.1:${port}`;
      const client = { redirect_uris: [`${origin}/login/caller`], token_endpoint_auth_method: 'none' };
      const registered = await send(`${issuer}/reg`, { body: client });
      return { oauth: { issuer, audience: `${origin}/mcp`, client_id: JSON.parse(registered.text).client_id } };
    });
    await page.setJavaScriptEnabled(false);
    await page.reload();
    await page.click('form button');
    await untilText(page, 'oauth:alice signs in to notes at ');
    await page.click('form button');
    await untilText(page, 'oauth:alice is signed in to notes');
    expect(problems).toEqual([]);
  });
});
