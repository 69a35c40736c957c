import { execFile } from 'node:child_process';
import { expect, test } from 'vitest';
import { newFile, newFolder } from './files.ts';
import { BUILT_PROGRAM } from './serve.ts';

/** The program `script` of other systems has other options. */
const linuxTest = test.runIf(process.platform === 'linux');

/** What a terminal of 40 columns receives from a command, which a person ends with Ctrl-D. */
async function typed(command: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: newFolder(), TERM: 'xterm-256color' };
  const program = `"${process.execPath}" "${BUILT_PROGRAM}"`;
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

linuxTest('check counts the links that it has read', async () => {
  const file = newFile('report.md', 'http://127.0.0.1/a and http://127.0.0.1/b');
  const shown = await typed(`check ${file}`);
  expect(shown).toContain('0 of 2 links');
  expect(shown).toContain('2 of 2 links\r\u001B[2K');
  expect(shown).toMatch(/\n2 links: 0 read, 2 not readable\n$/);
});

linuxTest('--stdio says on a terminal what it waits for', async () => {
  expect(await typed('--stdio')).toContain('Waiting for MCP messages from a client on standard input');
});
