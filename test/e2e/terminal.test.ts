import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './serve.ts';

/** The program `script` of other systems has other options. */
const linuxTest = test.runIf(process.platform === 'linux');

/** What a terminal of 40 columns receives from a command, which a person ends with Ctrl-D. */
async function typed(command: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const home = mkdtempSync(path.join(tmpdir(), 'terminal-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', ...variables };
  const program = `"${process.execPath}" "${path.join(ROOT, 'build/index.js')}"`;
  return new Promise((resolve, reject) => {
    const args = ['-qec', `stty cols 40; ${program} ${command}`, '/dev/null'];
    const child = execFile('script', args, { env, timeout: 150_000 }, (error, stdout) => {
      if (error === null) resolve(stdout.replaceAll('\r\n', '\n'));
      else reject(error);
    });
    child.stdin?.end('\u0004');
  });
}

linuxTest('ask shows an answer on a terminal with styles, in lines of its width', async () => {
  const shown = await typed('ask --offline "What does HTTP 404 mean?" 2> /dev/null');
  expect(shown).toContain('HTTP 404 means \u001B[1mNot Found\u001B[22m: the server was\nreached, but');
  expect(shown).toContain('\n• The 4xx codes say that the request,\n  rather than');
});

linuxTest('NO_COLOR removes the styles', async () => {
  const shown = await typed('ask --offline "What does HTTP 404 mean?" 2> /dev/null', { NO_COLOR: '1' });
  expect(shown).toContain('HTTP 404 means Not Found: the server was\nreached, but');
  expect(shown).not.toContain('\u001B[1m');
});

linuxTest('check counts the links that it has read', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'terminal-')), 'report.md');
  onTestFinished(() => rmSync(path.dirname(file), { recursive: true }));
  writeFileSync(file, 'http://127.0.0.1/a and http://127.0.0.1/b');
  const shown = await typed(`check ${file}`);
  expect(shown).toContain('0 of 2 links');
  expect(shown).toContain('2 of 2 links\r\u001B[2K');
  expect(shown).toMatch(/\n2 links: 0 read, 2 not readable\n$/);
});

linuxTest('--stdio says on a terminal what it waits for', async () => {
  expect(await typed('--stdio')).toContain('Waiting for MCP messages from a client on standard input');
});
