import { type ChildProcess, execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { untilAborted } from '../../../application/async/deadline.ts';
import { systemProgram } from '../files/system-program.ts';

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
 * Ends a process and all its descendants: closes the input, then sends SIGTERM and then SIGKILL to the process group, which outlives its leader.
 * On Linux, descendants that left the group, such as browsers, get the signals, too, if the process was still running. Resolves when none is left.
 * `graceMs` is the wait after the input was closed, and again after SIGTERM. If `programEnds` has aborted, SIGTERM is sent before anything is
 * awaited, because clients kill this program some milliseconds after they have asked it to end.
 */
export async function endTree(child: ChildProcess, programEnds: AbortSignal, graceMs = GRACE_MS): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  if (isWindows) return endTreeOnWindows(child, pid, programEnds, graceMs);
  const leavers: RunningProcess[] = [];
  const endLeavers = async (signal: NodeJS.Signals) => {
    leavers.push(...(await leaversOf(pid, ...leavers.map((leaver) => leaver.pid))));
    for (const leaver of leavers) if (await isRunning(leaver)) send(leaver.pid, signal);
  };
  if (programEnds.aborted) {
    child.stdin?.end();
    send(-pid, 'SIGTERM');
    await endLeavers('SIGTERM');
  } else {
    leavers.push(...(await leaversOf(pid)));
    child.stdin?.end();
    if (await isGone(pid, leavers, graceMs, programEnds)) return;
    await endLeavers('SIGTERM');
    send(-pid, 'SIGTERM');
  }
  if (await isGone(pid, leavers, graceMs)) return;
  await endLeavers('SIGKILL');
  send(-pid, 'SIGKILL');
  await isGone(pid, leavers, graceMs);
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
  const grace = AbortSignal.any([programEnds, AbortSignal.timeout(graceMs)]);
  await untilAborted(exited, grace);
  if (child.exitCode !== null) return;
  await new Promise<void>((resolve) =>
    execFile(systemProgram('taskkill', process.env), ['/pid', String(pid), '/T', '/F'], () => resolve()),
  );
}

/** Whether all processes end within `maxMs`. Asks repeatedly, because there is no event for the end of a group. */
async function isGone(
  groupId: number,
  leavers: readonly RunningProcess[],
  maxMs: number,
  hurry?: AbortSignal,
): Promise<boolean> {
  const areRunning = async () =>
    send(-groupId, 0) || (await Promise.all(leavers.map(isRunning))).some((isLeft) => isLeft);
  for (let waitedMs = 0; await areRunning(); waitedMs += POLL_MS) {
    if (waitedMs >= maxMs || hurry?.aborted) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Sends a signal to a process or, with a negative ID, to a group. False if no such process exists. */
function send(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A running process. Its start distinguishes it from a later process with the same ID. */
interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** All descendants of the roots that are not in the process group of the first root. Empty except on Linux. */
async function leaversOf(...roots: readonly number[]): Promise<RunningProcess[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const running = (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).filter((one) => one !== undefined);
  return below(roots, running).filter(({ group }) => group !== roots[0]);
}

function below(parents: readonly number[], others: readonly RunningProcess[]): readonly RunningProcess[] {
  const isChild = ({ parent }: RunningProcess) => parents.includes(parent);
  const children = others.filter(isChild);
  if (children.length === 0) return [];
  const left = others.filter((one) => !isChild(one));
  const pids = children.map(({ pid }) => pid);
  return [...children, ...below(pids, left)];
}

async function isRunning({ pid, start }: RunningProcess): Promise<boolean> {
  return (await readProcess(pid))?.start === start;
}

/** A process by its ID; undefined if it has ended. The name of the program, in parentheses, may contain anything (proc_pid_stat(5)). */
async function readProcess(pid: number): Promise<RunningProcess | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, start] = [fields[0], fields[1], fields[2], fields[19]];
  if (start === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), start };
}
