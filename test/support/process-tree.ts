import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The processes of one test, recognized by an argument of their own. */
export interface ProcessTree {
  /** The argument; each process of the tree must have it. */
  readonly tag: string;
  /** The processes that are running now. */
  pids(): readonly number[];
}

/** Prints the ID and the command line of every process, where there is no /proc. */
const LIST: [string, string[]] =
  process.platform === 'win32'
    ? [
        'powershell',
        ['-NoProfile', '-Command', 'Get-CimInstance Win32_Process | % { "$($_.ProcessId) $($_.CommandLine)" }'],
      ]
    : ['ps', ['-A', '-ww', '-o', 'pid=,args=']];

/** A line per process: its ID and its command line. */
function listProcesses(): readonly string[] {
  if (process.platform !== 'linux') return execFileSync(...LIST, { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => `${pid} ${commandLineOf(pid)}`);
}

/** Empty for a process that has ended, also if its parent has not yet asked for its status. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** What a test leaves behind is killed, after the test has failed because of it. A concurrent test gives its own `onTestFinished`. */
export function newProcessTree(onFinished = onTestFinished): ProcessTree {
  const tag = `--tag=${randomUUID()}`;
  const pids = () =>
    listProcesses()
      .filter((line) => line.includes(tag))
      .map((line) => Number.parseInt(line, 10));
  onFinished(() => {
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
  });
  return { tag, pids };
}

/** The server that can misbehave (see its own comment). */
export const STDIO_SERVER = fileURLToPath(new URL('./servers/stdio-server.js', import.meta.url));

export function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
