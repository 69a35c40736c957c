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

/** Runs in the page, and returns what people cannot read. */
const UNREADABLE = `(() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((part) => part / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backOf = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return /, 0\\)$/.test(color) && element.parentElement ? backOf(element.parentElement) : color;
  };
  const shown = [...document.querySelectorAll('main *')].filter((element) => element.checkVisibility());
  const texts = shown.filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
  const dark = texts.flatMap((element) => {
    const [a, b] = [light(getComputedStyle(element).color), light(backOf(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return contrast < 4.5 ? [element.textContent + ' ' + contrast] : [];
  });
  const nameless = shown.filter((element) => element.matches('input:not([type=hidden])') && element.labels.length === 0);
  const isTitled = document.title !== '' && document.documentElement.lang === 'en' && document.querySelectorAll('h1').length === 1;
  return [...dark, ...nameless.map((field) => field.outerHTML), ...(texts.length > 1 && isTitled ? [] : [document.title])];
})()`;

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

  /** The texts of a page whose contrast with their background is too low in light or dark (WCAG 2.2, AA), and fields without a name. */
  const unreadable = async (page: Page) => {
    const found: unknown[] = [];
    for (const value of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      found.push(...((await page.evaluate(UNREADABLE)) as unknown[]));
    }
    return found;
  };

  const untilText = (page: Page, part: string) =>
    expect.poll(() => page.$eval('main', (main) => main.innerText)).toContain(part);

  // S87, S88
  test('a caller with a token signs in, and deletes the login', async () => {
    const { page, problems, address } = await start(async () => ({ token_env: { alice: 'TOKEN' } }));
    const headers = { Authorization: `Bearer ${TOKEN}` };
    const home = await page.browserContext().newPage();
    await home.goto(new URL('/', address).href);
    await home.locator('#token').fill(TOKEN);
    await home.locator('#token-form .primary').click();
    await home.locator('.server a').wait();
    const links = () => home.$$eval('.server a', (found) => found.map(({ textContent, href }) => [textContent, href]));
    expect(await links()).toEqual([['Sign in to notes', address]]);
    await page.bringToFront();
    expect(await unreadable(page)).toEqual([]);
    await page.type('#token', TOKEN);
    await page.click('#token-form button');
    await untilText(page, 'alice signs in to notes at ');
    expect(await unreadable(page)).toEqual([]);
    await page.click('#sign-in');
    await untilText(page, 'alice is signed in to notes');
    expect(await unreadable(page)).toEqual([]);
    const state = async () => JSON.parse((await send(address, { method: 'GET', headers })).text).state;
    expect(await state()).toBe('available');
    await home.bringToFront();
    await home.locator('#refresh').click();
    await expect.poll(links).toEqual([]);
    await page.bringToFront();
    // The login is used.
    const body = { server: 'notes', toolName: 'echo', input: { text: 'hello' } };
    const called = await send(new URL('/mcp/call', address).href, { body, headers });
    expect(JSON.parse(called.text)).toEqual({ success: true, result: 'hello' });
    await page.goto(address);
    await page.type('#token', TOKEN);
    await page.click('#token-form button');
    await untilText(page, 'There is a login');
    expect(await unreadable(page)).toEqual([]);
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
