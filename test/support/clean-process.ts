import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOME_VARIABLE } from './platform.ts';

export interface CleanProcessOptions {
  /** Variables in addition to PATH and HOME; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the new home folder. */
  readonly cwd?: string;
  /** The script that Node.js runs. Default: `build/index.js` of this project. */
  readonly program?: string;
  /** Kills the process after so many milliseconds. */
  readonly timeoutMs?: number;
}

export interface CleanProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** A new, empty folder: the HOME of the process. */
  readonly home: string;
  /** Resolves when the process is gone and all its output was read. */
  readonly exited: Promise<ExitStatus>;
  removeHome(): void;
}

export interface ExitStatus {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs a Node.js script as a new user on a new machine would: no config, no key, and nothing of this environment. */
export function startCleanProcess(args: readonly string[], options: CleanProcessOptions = {}): CleanProcess {
  const { env = {}, program = BUILT_PROGRAM, timeoutMs } = options;
  const home = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-test-'));
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd ?? home,
    env: { PATH: process.env.PATH, [HOME_VARIABLE]: home, ...env },
    stdio: 'pipe',
    killSignal: 'SIGKILL',
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  const exited = new Promise<ExitStatus>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  // A write to a process that is gone shows as its exit.
  child.stdin.on('error', () => undefined);
  return { child, home, exited, removeHome: () => rmSync(home, { recursive: true, force: true }) };
}

const BUILT_PROGRAM = fileURLToPath(new URL('../../build/index.js', import.meta.url));
