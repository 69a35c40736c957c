import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { newFile, newFolder } from './files.ts';
import { BUILT_PROGRAM } from './serve.ts';

/** The program `script` of other systems has other options. */
const linuxTest = test.runIf(process.platform === 'linux');

/** Starts a command in a terminal of 40 columns. */
function startTyped(command: string, onEnd: Parameters<typeof execFile>[3] & object, more = {}) {
  const env = { ...more, PATH: process.env.PATH, HOME: newFolder(), TERM: 'xterm-256color' };
  const program = `"${process.execPath}" "${BUILT_PROGRAM}"`;
  const args = ['-qec', `stty cols 40; ${program} ${command}`, '/dev/null'];
  return execFile('script', args, { env, timeout: 150_000 }, onEnd);
}

/** What a terminal receives from a command, which a person ends with Ctrl-D. */
async function typed(command: string, code = 0, env = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = startTyped(
      command,
      (error, stdout) => {
        if ((error?.code ?? 0) === code) resolve(String(stdout).replaceAll('\r\n', '\n'));
        else reject(error);
      },
      env,
    );
    child.stdin?.end('\u0004');
  });
}

/** A command in a terminal that runs until Ctrl-C. */
function openTerminal(command: string) {
  let shown = '';
  const child = startTyped(command, () => {});
  const ended = once(child, 'close');
  child.stdout?.on('data', (text) => {
    shown += String(text).replaceAll('\r\n', '\n');
  });
  onTestFinished(() => void child.kill());
  return {
    /** Resolves when the terminal shows a text. */
    shows: async (pattern: RegExp) => {
      await expect.poll(() => shown, { timeout: 20_000 }).toMatch(pattern);
      return pattern.exec(shown) ?? [];
    },
    interrupt: async () => {
      child.stdin?.write('\u0003');
      await ended;
      return shown;
    },
  };
}

linuxTest('ask shows an answer on a terminal with styles, in lines of its width', async () => {
  const shown = await typed('ask --offline "What does HTTP 404 mean?" 2> /dev/null');
  expect(shown).toContain('HTTP 404 means \u001B[1mNot Found\u001B[22m: the server was\nreached, but');
  expect(shown).toContain('\n• The 4xx codes say that the request,\n  rather than');
});

linuxTest('check counts the links that it has read', async () => {
  const file = newFile('report.md', 'http://127.0.0.1/a and http://127.0.0.1/b');
  const shown = await typed(`check ${file}`, 3);
  expect(shown).toContain('0 of 2 links');
  expect(shown).toContain('2 of 2 links\r\u001B[2K');
  expect(shown).toMatch(/\n2 links: 0 read, 2 not readable\nAdd --private to read pages on this\nmachine, (?:.*\n)+$/);
});

linuxTest('doctor, tools and check have colours on a terminal, unless NO_COLOR is set', async () => {
  const servers = newFile('servers.json', JSON.stringify({ servers: { gone: { command: 'no-such-program' } } }));
  const report = newFile('report.md', 'http://127.0.0.1/a');
  expect(await typed('doctor --offline')).toMatch(
    /^\u001B\[32mok {2}\u001B\[39m {2}node: (?:.*\n)+\d ok, 1 note, 1 skipped\n$/,
  );
  expect(await typed(`tools --servers ${servers}`, 1)).toContain(
    '\u001B[1mgone\u001B[22m: \u001B[31mfailed\u001B[39m (stdio)',
  );
  expect(await typed(`check ${report}`, 3)).toContain('\u001B[33mNot readable:\u001B[39m\n- ');
  const plain = await typed(`tools --servers ${servers} 2> /dev/null`, 1, { NO_COLOR: '1' });
  expect(plain).toMatch(/^gone: failed \(stdio\): /);
});

linuxTest('--stdio says on a terminal what it waits for', async () => {
  expect(await typed('--stdio')).toContain('Waiting for MCP messages from a client on standard input');
});

linuxTest('--http writes lines of one form, says when it is ready, and nothing about what the page reads', async () => {
  const servers = { tools: { command: process.execPath, args: [STDIO_SERVER] }, gone: { command: 'no-such-program' } };
  const terminal = openTerminal(`--http=127.0.0.1:0 --servers ${newFile('servers.json', JSON.stringify({ servers }))}`);
  const [, url = ''] = await terminal.shows(/serving MCP at (\S+)\/mcp/);
  await terminal.shows(/ 1 of 2 servers ready, \d+ tools, http:\/\/127\.0\.0\.1:\d+\/\n/);
  const get = async (place: string, headers = {}) => (await fetch(`${url}${place}`, { headers })).headers.get('ETag');
  const etag = await get('/mcp/tools', { 'Sec-Fetch-Site': 'same-origin' });
  await get('/mcp/tools', { 'If-None-Match': etag ?? '' });
  await get('/mcp/servers');
  await get('/mcp/nothing', { 'Sec-Fetch-Site': 'same-origin' });
  await terminal.shows(/ GET \/mcp\/nothing: 404 refused \(no such path\), \d+ ms\n/);
  const shown = await terminal.interrupt();
  expect(shown.match(/ GET .*/g)).toEqual([expect.stringMatching('/mcp/servers: 200, '), expect.stringMatching('404')]);
  expect(shown).toContain(' \u001B[33mWARN\u001B[39m gateway: gone is unavailable');
  const lines = shown.replace('^C', '').trim().split('\n');
  expect(lines.filter((line) => !/^\d\d:\d\d:\d\d [^{]/.test(line))).toEqual([]);
});
