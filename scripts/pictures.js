// npm run pictures: makes the pictures of the program in docs/images from the built program, in light and dark: terminals as SVG, the page as PNG.
// Needs Chromium (or its path in CHROME) and Python 3. The pictures of the architecture are made by hand.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { launch } from 'puppeteer-core';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import { loadBundle } from './lib/load-source.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PROGRAM = join(ROOT, 'build/index.js');
const QUESTION = 'What is the latest MCP specification revision?';

/** The commands that are shown: the name of the picture, the arguments, and the width of the terminal. */
const TERMINALS = [
  { name: 'ask-en', args: ['ask', '--offline', QUESTION], columns: 88 },
  { name: 'ask-ja', args: ['ask', '--offline', '本日 2026-11-20 の東京の天気は？'], columns: 88 },
  { name: 'check', args: ['check', 'report.md'], columns: 108 },
];

const REPORT = `# The tower

The tower has 43 steps ([museum](http://town.example/tower)).
The council calls it “the oldest tower of the whole country” ([museum](http://town.example/tower)).

[The plan](http://town.example/plan) has been published. The gate was built in 1887.
See http://town.example/forum for what people say.
`;

/** The pages of the report: a status and a text. */
const WEB = {
  '/tower': [200, '<p>The tower of the town has 42 steps. The council calls it the oldest tower of the county.</p>'],
  '/forum': [403, ''],
};

/** What the page shows: the name of the picture, the height (default: that of the question), and what is done first. */
const PAGES = [
  {
    name: 'page-answer',
    act: async (page) => {
      await page.type('#question', QUESTION);
      await page.click('#ask-submit');
      await page.waitForSelector('#ask-result .sources');
    },
  },
  {
    name: 'page-tools',
    height: 860,
    act: async (page) => {
      await page.locator('[data-key="everything/get-annotated-message"]').click();
      const form = await page.waitForSelector('#tool form');
      await (await form.$('select')).select('1');
      await (await form.$('input[type=checkbox]')).click();
      await (await form.$('[type=submit]')).click();
      await page.waitForSelector('#tool .result img');
      await page.evaluate('scrollTo(0, 0)');
    },
  },
];

/** The servers of the page. One has failed. */
const SERVERS = [
  { name: 'everything', command: join(ROOT, 'node_modules/.bin/mcp-server-everything') },
  {
    name: 'database',
    command: process.execPath,
    args: ['-e', "console.error('connection refused: db.internal:5432'); process.exit(1)"],
    restart: 'never',
  },
];

const THEMES = {
  light: {
    back: '#ffffff',
    edge: '#d0d7de',
    dots: '#afb8c1',
    text: '#1f2328',
    prompt: '#116329',
    31: '#a40e26',
    32: '#116329',
    33: '#7d4e00',
    36: '#0550ae',
  },
  dark: {
    back: '#0d1117',
    edge: '#30363d',
    dots: '#484f58',
    text: '#e6edf3',
    prompt: '#7ee787',
    31: '#ffa198',
    32: '#7ee787',
    33: '#e3b341',
    36: '#79c0ff',
  },
};
const FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace";
const COLUMN = 8.4;
const LINE = 21;
const MARGIN = 20;

/** The end of each style, by its beginning, as src/domain/values/terminal-style.ts writes them. */
const ENDS = { 22: ['1'], 23: ['3'], 24: ['4'], 39: ['31', '32', '33', '36'] };
const STYLES = { 1: 'font-weight="bold"', 3: 'font-style="italic"', 4: 'text-decoration="underline"' };

const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
const write = (name, theme, data) => writeFileSync(join(ROOT, 'docs/images', `${name}-${theme}`), data);
try {
  await drawTerminals();
  await drawPages();
} finally {
  rmSync(folder, { recursive: true });
}

async function drawTerminals() {
  writeFileSync(join(folder, 'report.md'), REPORT);
  const web = createServer(({ url }, response) => {
    const [status, text] = WEB[new URL(url, 'http://town.example').pathname] ?? [404, ''];
    response.writeHead(status, { 'Content-Type': 'text/html' }).end(`<title>Town</title>${text}`);
  });
  // A proxy for requests to any host, through a tunnel or directly.
  web.on('connect', (_, client) => {
    const upstream = connect(web.address().port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
  });
  await once(web.listen(0, '127.0.0.1'), 'listening');
  for (const { name, args, columns } of TERMINALS) {
    const command = `$ openai-responses-mcp ${args.map((word) => (/[^\w./=-]/.test(word) ? `"${word}"` : word)).join(' ')}`;
    const shown = await runInTerminal(args, columns, { HTTP_PROXY: `http://127.0.0.1:${web.address().port}` });
    for (const [theme, colors] of Object.entries(THEMES))
      write(name, `${theme}.svg`, toSvg(command, shown, columns, colors));
  }
  web.close().closeAllConnections();
}

/** What the program prints on standard output in a terminal, with its styles. */
async function runInTerminal(args, columns, env) {
  const bridge = join(ROOT, 'test/support/pseudo-terminal.py');
  // The line of progress is on standard error.
  const argv = [
    bridge,
    String(columns),
    '/bin/sh',
    '-c',
    'exec "$@" 2>/dev/null',
    'sh',
    process.execPath,
    PROGRAM,
    ...args,
  ];
  const child = spawn('python3', argv, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    shown += text;
  });
  await once(child, 'close');
  return shown.replaceAll('\r\n', '\n').trimEnd();
}

/** A terminal as SVG. The length of each line is fixed, because the font of the reader may have other widths. */
function toSvg(command, shown, columns, colors) {
  const lines = wrapAnsi(shown, columns, { trim: false, hard: true }).split('\n');
  const width =
    Math.round(10 * (2 * MARGIN + COLUMN * Math.max(stringWidth(command), ...lines.map((line) => stringWidth(line))))) /
    10;
  const height = 3 * LINE + 27 + LINE * lines.length;
  const state = new Set();
  const row = (line, index, fill, content) => {
    const length = Math.round(10 * COLUMN * stringWidth(line)) / 10;
    if (length === 0) return '';
    return `<text x="${MARGIN}" y="${57 + LINE * index}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${fill}" xml:space="preserve">${content}</text>\n`;
  };
  const body = lines.map((line, index) => row(line, index + 1, colors.text, toSpans(line, state, colors)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(command)}">
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colors.back}" stroke="${colors.edge}"/>
<path d="M20 16h0M40 16h0M60 16h0" stroke="${colors.dots}" stroke-width="11" stroke-linecap="round"/>
<g font-family="${FONT}" font-size="14">
${row(command, 0, colors.prompt, escaped(command))}${body.join('')}</g>
</svg>
`;
}

/** Turns the styles of a line into spans. `state` has the styles that are open. */
function toSpans(line, state, colors) {
  return line
    .split(/\u001B\[(\d+)m/)
    .map((part, index) => {
      if (index % 2 === 0) {
        const attributes = [...state].map((style) => STYLES[style] ?? `fill="${colors[style]}"`).join(' ');
        return attributes === '' || part === '' ? escaped(part) : `<tspan ${attributes}>${escaped(part)}</tspan>`;
      }
      if (ENDS[part] === undefined) state.add(part);
      for (const style of ENDS[part] ?? []) state.delete(style);
      return '';
    })
    .join('');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

async function drawPages() {
  const config = join(folder, 'config.yaml');
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ servers: SERVERS }));
  const server = spawn(process.execPath, [PROGRAM, '--http=127.0.0.1:0', '--offline', '--config', config], {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { findBrowser } = await loadBundle("export { findBrowser } from './test/support/find-browser.ts';");
  const browser = await launch({ executablePath: findBrowser(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    const url = await readyAt(server);
    for (const { name, height, act } of PAGES) {
      for (const theme of Object.keys(THEMES)) {
        const page = await browser.newPage();
        await page.setViewport({ width: 1200, height: height ?? 860 });
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
        await page.goto(url);
        await page.waitForFunction("document.querySelector('#summary').textContent.includes('1 of 2')");
        await act(page);
        const box = height === undefined ? await (await page.$('#ask')).boundingBox() : undefined;
        const clip = { x: 0, y: 0, width: 1200, height: height ?? Math.ceil(box.y + box.height + 2) };
        write(name, `${theme}.png`, await page.screenshot({ clip }));
        await page.close();
      }
    }
  } finally {
    await browser.close();
    server.kill();
  }
}

/** The URL of the page, once every server has started or failed. */
async function readyAt(server) {
  for await (const line of createInterface({ input: server.stderr })) {
    const [, url] = /\d+ of \d+ servers ready, .*, (http\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The server ended before it was ready.');
}
