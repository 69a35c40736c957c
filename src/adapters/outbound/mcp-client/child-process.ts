import { type ChildProcess, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { untilAborted } from '../../../application/async/deadline.ts';
import { systemProgram } from '../files/local-files.ts';
import { GATEWAY_MARKER } from '../network/environment.ts';

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

/**
 * The processes of a server: its process group, which outlives its leader, and on Linux the processes that left the group, such as browsers.
 * They are found as descendants and, because a process whose parent has ended is no descendant any more, by the mark in their environment.
 */
class ChildTree {
  readonly #groupId: number;
  readonly #mark: string;
  #leavers: readonly RunningProcess[] = [];

  /** `mark` is the value of `GATEWAY_MARKER` in the environment of the leader of the group. */
  constructor(groupId: number, mark: string) {
    this.#groupId = groupId;
    this.#mark = mark;
  }

  /** Finds processes that have left the group since the last look. */
  async look(): Promise<void> {
    const running = await runningProcesses();
    const isKnown = ({ pid, start }: RunningProcess) =>
      this.#leavers.some((leaver) => leaver.pid === pid && leaver.start === start);
    const known = running.filter((one) => one.mark === this.#mark || isKnown(one));
    const all = [...known, ...below([this.#groupId, ...known.map(({ pid }) => pid)], running)];
    this.#leavers = [...new Set(all)].filter(({ group }) => group !== this.#groupId);
  }

  async isRunning(): Promise<boolean> {
    return send(-this.#groupId, 0) || (await Promise.all(this.#leavers.map(isRunning))).some((isLeft) => isLeft);
  }

  /** Sends a signal to all, after another look. */
  async send(signal: NodeJS.Signals): Promise<void> {
    await this.look();
    for (const leaver of this.#leavers) if (await isRunning(leaver)) send(leaver.pid, signal);
    send(-this.#groupId, signal);
  }
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
  readonly mark: string | undefined;
}

let nextReading: Promise<readonly RunningProcess[]> | undefined;

/** All processes; none except on Linux. Servers that end at the same time share one reading. */
function runningProcesses(): Promise<readonly RunningProcess[]> {
  nextReading ??= nextTurn().then(() => {
    nextReading = undefined;
    return readProcesses();
  });
  return nextReading;
}

async function readProcesses(): Promise<readonly RunningProcess[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const read = await Promise.all(
    pids.map(async (pid) => {
      const [found, mark] = await Promise.all([readProcess(pid), markOf(pid)]);
      return found && { ...found, mark };
    }),
  );
  return read.filter((one) => one !== undefined);
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
async function readProcess(pid: number): Promise<Omit<RunningProcess, 'mark'> | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, start] = [fields[0], fields[1], fields[2], fields[19]];
  if (start === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), start };
}

/** The mark in the environment with which a process of this user was started. */
async function markOf(pid: number): Promise<string | undefined> {
  const variables = (await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')).split('\0');
  return variables.find((one) => one.startsWith(NAME))?.slice(NAME.length);
}

const NAME = `${GATEWAY_MARKER}=`;
