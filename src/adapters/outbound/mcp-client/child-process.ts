import { type ChildProcess, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { untilAborted } from '../../../application/async/deadline.ts';
import { systemProgram } from '../files/system-program.ts';
import { GATEWAY_MARKER } from '../network/environment.ts';
import { ChildTree } from './child-tree.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface StartedChild {
  readonly process: ChildProcess;
  /** The value of `GATEWAY_MARKER` in the environment of this process and of all that it starts, unless they remove it. */
  readonly mark: string;
}

const GRACE_MS = 2000;
/** The wait for an end by itself if this program ends: clients kill it some hundred milliseconds after they have asked it to end. */
const HURRY_MS = 100;
const POLL_MS = 20;

const isWindows = process.platform === 'win32';

/** Starts a command as the leader of a process group, so that the complete tree can be ended. Never through a shell. */
export function startChild({ command, args, cwd, env }: ChildOptions): StartedChild {
  const mark = randomUUID();
  const marked = { ...env, [GATEWAY_MARKER]: mark };
  const options = { cwd, env: marked, stdio: 'pipe', detached: !isWindows, windowsHide: true } as const;
  return { process: spawn(command, [...args], options), mark };
}

/**
 * Ends a process and everything that it started: closes the input, then sends SIGTERM and then SIGKILL. Resolves when none is left.
 * `graceMs` is the wait after the input was closed, and again after SIGTERM. If `programEnds` has aborted, the first wait is short.
 */
export async function endTree(
  { process: child, mark }: StartedChild,
  programEnds: AbortSignal,
  graceMs = GRACE_MS,
): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  if (isWindows) return endTreeOnWindows(child, pid, programEnds, graceMs);
  const tree = new ChildTree(pid, mark);
  // Later, the parents may have ended, and nothing would connect their children with the server.
  await tree.look();
  child.stdin?.end();
  if (await isGone(tree, programEnds.aborted ? Math.min(HURRY_MS, graceMs) : graceMs, programEnds)) return;
  await tree.send('SIGTERM');
  if (await isGone(tree, graceMs)) return;
  await tree.send('SIGKILL');
  await isGone(tree, graceMs);
}

/** Windows has no process groups. `taskkill /T` finds the tree by the IDs of parents while the root is still running. */
async function endTreeOnWindows(
  child: ChildProcess,
  pid: number,
  programEnds: AbortSignal,
  graceMs: number,
): Promise<void> {
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin?.end();
  if (child.exitCode !== null) return;
  const grace = programEnds.aborted
    ? AbortSignal.timeout(Math.min(HURRY_MS, graceMs))
    : AbortSignal.any([programEnds, AbortSignal.timeout(graceMs)]);
  await untilAborted(exited, grace);
  if (child.exitCode !== null) return;
  await new Promise<void>((resolve) =>
    execFile(systemProgram('taskkill', process.env), ['/pid', String(pid), '/T', '/F'], () => resolve()),
  );
}

/** Whether all processes end within `maxMs`, or before `hurry` aborts. Asks repeatedly, because there is no event for the end of a group. */
async function isGone(tree: ChildTree, maxMs: number, hurry?: AbortSignal): Promise<boolean> {
  const isHurried = hurry?.aborted;
  for (let waitedMs = 0; await tree.isRunning(); waitedMs += POLL_MS) {
    if (waitedMs >= maxMs || hurry?.aborted !== isHurried) return false;
    await sleep(POLL_MS);
  }
  // A server may have started processes while it ended.
  await tree.look();
  return !(await tree.isRunning());
}
