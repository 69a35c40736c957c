import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { HOME_VARIABLE } from './platform.ts';

const BRIDGE = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));

interface TerminalOptions {
  readonly argv: readonly string[];
  /** The path of Python 3. */
  readonly python: string;
  readonly home: string;
  readonly columns?: number;
}

/** A program in a pseudo-terminal, for one test. */
export function startInTerminal({ argv, python, home, columns = 80 }: TerminalOptions) {
  const env = { PATH: process.env.PATH, [HOME_VARIABLE]: home, TERM: 'xterm' };
  const child = spawn(python, [BRIDGE, String(columns), process.execPath, ...argv], { cwd: home, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { shown: () => shown, type: (text: string) => void child.stdin.write(text), exited };
}
