import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

/** The mode of a link under `/proc/<pid>/fd` is the mode in which the file was opened. */
const MODES = { reads: 0o400, writes: 0o200 };

/** So many files are looked at in one go: some processes hold tens of thousands. */
const FILES_AT_A_TIME = 500;

/**
 * Whoever holds the other end of a pipe. A pipe tells its writer that nobody reads only when something is written, but
 * Linux shows under `/proc` which processes hold it open. Nobody is seen where processes may not be looked at (another
 * user's; those outside of a container), and on other systems.
 */
export class PipePeer {
  readonly #pipe: string | undefined;
  readonly #mode: number;
  /** The open file through which the peer was last seen to hold the pipe, as a path under `/proc`. */
  #holder: string | undefined;

  /** Of the pipe that is open as `fd` in this process: who `reads` from it, or who `writes` to it. */
  constructor(fd: number, does: keyof typeof MODES) {
    this.#pipe = targetOf(`/proc/self/fd/${fd}`);
    this.#mode = MODES[does];
  }

  /** Whether some process that we can see holds the other end. The first look, and each after a loss, goes over all. */
  async isSeen(): Promise<boolean> {
    if (this.#holder === undefined || !this.#isHeldAt(this.#holder)) this.#holder = await this.#find();
    return this.#holder !== undefined;
  }

  async #find(): Promise<string | undefined> {
    if (this.#pipe === undefined) return undefined;
    let looked = 0;
    for (const pid of processes()) {
      for (const fd of namesIn(`/proc/${pid}/fd`)) {
        const file = `/proc/${pid}/fd/${fd}`;
        if (this.#isHeldAt(file)) return file;
        looked += 1;
        if (looked % FILES_AT_A_TIME === 0) await breathe();
      }
    }
    return undefined;
  }

  #isHeldAt(file: string): boolean {
    return targetOf(file) === this.#pipe && (modeOf(file) & this.#mode) !== 0;
  }
}

/** Whether we may look at the files of the process that started us: if not, our peers are hidden as well. */
export function isParentSeen(): boolean {
  return namesIn(`/proc/${process.ppid}/fd`).length > 0;
}

/** All others that run now: first the parent, which most often is the one at the other end. */
function processes(): readonly string[] {
  const parent = String(process.ppid);
  const others = namesIn('/proc').filter((name) => /^\d+$/.test(name) && name !== parent && name !== `${process.pid}`);
  return [parent, ...others];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What a link leads to; a named pipe is the same one when its name is taken away. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined;
  }
}

function modeOf(link: string): number {
  try {
    return lstatSync(link).mode;
  } catch {
    return 0;
  }
}
