import { readdir, readFile } from 'node:fs/promises';

/** A process that is running. With its start, it is distinguished from a later one with the same ID. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly start: string;
}

/** The processes below these, at any depth. Known only on Linux; elsewhere none. */
export async function descendantsOf(roots: readonly number[]): Promise<readonly RunningProcess[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const running = (await Promise.all(pids.map((pid) => readProcess(Number(pid))))).filter((one) => one !== undefined);
  return below(roots, running);
}

function below(parents: readonly number[], others: readonly RunningProcess[]): readonly RunningProcess[] {
  const isChild = ({ parent }: RunningProcess) => parents.includes(parent);
  const children = others.filter(isChild);
  if (children.length === 0) return [];
  const left = others.filter((one) => !isChild(one));
  return [
    ...children,
    ...below(
      children.map(({ pid }) => pid),
      left,
    ),
  ];
}

export async function isRunning({ pid, start }: RunningProcess): Promise<boolean> {
  return (await readProcess(pid))?.start === start;
}

/** Undefined if it has ended. The name of the program, in parentheses, may contain anything (proc_pid_stat(5)). */
async function readProcess(pid: number): Promise<RunningProcess | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group, start] = [fields[0], fields[1], fields[2], fields[19]];
  if (start === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), start };
}
