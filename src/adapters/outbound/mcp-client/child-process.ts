import { type ChildProcess, execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { descendantsOf, isRunning, type RunningProcess } from './descendants.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const GRACE_MS = 2000;
const POLL_MS = 20;

const isWindows = process.platform === 'win32';

/** Starts a command as the leader of a process group, so that the complete tree can be ended. Never through a shell. */
export function startChild({ command, args, cwd, env }: ChildOptions): ChildProcess {
  return spawn(command, [...args], { cwd, env, stdio: 'pipe', detached: !isWindows, windowsHide: true });
}

/**
 * Ends a process and all its descendants: closes the input, then sends SIGTERM, then SIGKILL, to the group, which outlives its leader. On
 * Linux also to descendants that left the group, such as browsers, if the process was still running. Resolves when none is left. `graceMs` is how
 * long the tree may take after its input was closed, and again after SIGTERM.
 */
export async function endTree(child: ChildProcess, graceMs = GRACE_MS): Promise<void> {
  const { pid } = child;
  const leavers = pid === undefined ? [] : await leaversOf(pid);
  child.stdin?.end();
  if (pid === undefined) return;
  if (isWindows) return endTreeOnWindows(child, pid, graceMs);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await isGone(pid, leavers, graceMs)) return;
    leavers.push(...(await leaversOf(pid, ...leavers.map((leaver) => leaver.pid))));
    send(-pid, signal);
    for (const leaver of leavers) if (await isRunning(leaver)) send(leaver.pid, signal);
  }
  await isGone(pid, leavers, graceMs);
}

/** The descendants that are not in the group of the first process. */
async function leaversOf(...roots: readonly [number, ...number[]]): Promise<RunningProcess[]> {
  return (await descendantsOf(roots)).filter(({ group }) => group !== roots[0]);
}

/** Windows has no groups: `taskkill /T` finds the tree by parents, while the root is still running. */
async function endTreeOnWindows(child: ChildProcess, pid: number, graceMs: number): Promise<void> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.exitCode !== null) return;
  await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
  if (child.exitCode === null) {
    await new Promise<void>((resolve) => execFile('taskkill', ['/pid', String(pid), '/T', '/F'], () => resolve()));
  }
}

/** There is no event for the end of a group. */
async function isGone(groupId: number, leavers: readonly RunningProcess[], maxMs: number): Promise<boolean> {
  const areRunning = async () =>
    send(-groupId, 0) || (await Promise.all(leavers.map(isRunning))).some((isLeft) => isLeft);
  for (let waitedMs = 0; await areRunning(); waitedMs += POLL_MS) {
    if (waitedMs >= maxMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** False if there is no such process, or no process in the group that a negative ID means. */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
