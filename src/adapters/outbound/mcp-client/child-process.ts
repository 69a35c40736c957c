import { type ChildProcess, execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How long a process tree may take to end after its input was closed, and again after SIGTERM (ruling G7). */
const GRACE_MS = 2000;
const POLL_MS = 20;

const isWindows = process.platform === 'win32';

/** Starts a command as the leader of a process group, so that the complete tree can be ended. Never through a shell. */
export function startChild({ command, args, cwd, env }: ChildOptions): ChildProcess {
  return spawn(command, [...args], { cwd, env, stdio: 'pipe', detached: !isWindows, windowsHide: true });
}

/**
 * Ends a process and all its descendants: closes the input, then sends SIGTERM to the group, then SIGKILL. Resolves when none is left.
 * The group outlives its leader.
 */
export async function endTree(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  if (child.pid === undefined) return;
  if (isWindows) return endTreeOnWindows(child, child.pid);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await isGone(child.pid, GRACE_MS)) return;
    signalGroup(child.pid, signal);
  }
  await isGone(child.pid, GRACE_MS);
}

/** Windows has no groups: `taskkill /T` finds the tree by parents, while the root is still running. */
async function endTreeOnWindows(child: ChildProcess, pid: number): Promise<void> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.exitCode !== null) return;
  await Promise.race([exited, sleep(GRACE_MS, undefined, { ref: false })]);
  if (child.exitCode === null) {
    await new Promise<void>((resolve) => execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => resolve()));
  }
}

/** There is no event for the end of a group. */
async function isGone(groupId: number, maxMs: number): Promise<boolean> {
  for (let waitedMs = 0; signalGroup(groupId, 0); waitedMs += POLL_MS) {
    if (waitedMs >= maxMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** False if the group has no processes. */
function signalGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-groupId, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
