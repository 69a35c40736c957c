// npm run screenshots: starts the built server with the reference server of MCP and with recordings, opens its page in headless
// Chromium, and writes the pictures of the docs into docs/images, or into the folder that is named.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from 'puppeteer-core';
import { findBrowser } from './lib/find-browser.js';
import { runScript, within } from './lib/stdio-client.js';

const MAX_BYTES = 150_000;
const QUESTION = 'What is the latest MCP specification revision?';
const root = fileURLToPath(new URL('..', import.meta.url));

/** One server that works, and one that does not. */
const CONFIG = {
  servers: [
    {
      name: 'database',
      command: process.execPath,
      args: ['-e', 'console.error("connection refused: db.internal:5432"); process.exit(1)'],
      restart: 'never',
    },
    {
      name: 'everything',
      command: process.execPath,
      args: [path.join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js')],
    },
  ],
};

runScript(async () => {
  const folder = path.resolve(process.argv[2] ?? path.join(root, 'docs/images'));
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error('There is no Chromium on the PATH: install it, or set CHROME.');
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-screenshots-'));
  const server = await startServer(scratch);
  try {
    const browser = await launch({ executablePath, args: ['--no-sandbox', '--hide-scrollbars', '--lang=en-US'] });
    try {
      for (const colorScheme of ['light', 'dark']) await takePictures(browser, server.url, colorScheme, folder);
    } finally {
      await browser.close();
    }
  } finally {
    await server.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
});

async function startServer(scratch) {
  const config = path.join(scratch, 'config.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify(CONFIG));
  const args = [path.join(root, 'build/index.js'), '--http=127.0.0.1:0', '--offline', '--config', config];
  const env = { PATH: process.env.PATH, HOME: scratch };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise((resolve) => child.once('close', resolve));
  let output = '';
  const started = new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text;
      const [, url] = /serving MCP at (\S+)\n/.exec(output) ?? [];
      if (url) resolve(url);
    });
    void exited.then(() => reject(new Error(`The server did not start: ${output}`)));
  });
  const stop = () => {
    child.kill();
    return exited;
  };
  return { url: await within(10_000, 'the start', started), stop };
}

async function takePictures(browser, mcpUrl, colorScheme, folder) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1200, height: 860 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: colorScheme }]);
  await page.goto(new URL('/#everything/get-annotated-message', mcpUrl).href);
  await page.waitForSelector('#tool select');
  await page.select('#tool select', '1');
  await page.click('#tool [type="checkbox"]');
  await page.click('#tool [type="submit"]');
  await page.waitForSelector('#tool .result img');
  await unfocus(page);
  save(path.join(folder, `page-tools-${colorScheme}.png`), await page.screenshot());

  await page.type('#question', QUESTION);
  await page.click('#ask-submit');
  const answer = await page.waitForSelector('#ask-result .sources');
  await unfocus(page);
  const { y, height } = await answer.boundingBox();
  const clip = { x: 0, y: 0, width: 1200, height: Math.ceil(y + height) + 32 };
  save(path.join(folder, `page-answer-${colorScheme}.png`), await page.screenshot({ clip }));
  await page.close();
}

/** Without the focus ring and the highlighted button. */
async function unfocus(page) {
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur()');
}

function save(file, bytes) {
  if (bytes.length > MAX_BYTES) throw new Error(`${file} would have ${bytes.length} bytes: at most ${MAX_BYTES}.`);
  writeFileSync(file, bytes);
  console.log(`${path.relative(process.cwd(), file)}: ${bytes.length} bytes`);
}
