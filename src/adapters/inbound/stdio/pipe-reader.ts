import { lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';

const READABLE = 0o400;

/**
 * Watches the reading end of a pipe that we write to. A pipe tells its writer that nobody reads only when something is
 * written, but Linux shows under `/proc` which processes hold its other end. It finds nobody where processes may not be
 * looked at (a container's output is held outside of it), and on other systems.
 */
export class PipeReader {
  readonly #pipe: string | undefined;
  /** The open file through which the pipe was last seen to be read, as a path under `/proc`. */
  #holder: string | undefined;

  /** Of the pipe that is open as `fd` in this process. */
  constructor(fd: number) {
    this.#pipe = targetOf(`/proc/self/fd/${fd}`);
  }

  /** Whether some process that we can see may read the pipe. The first look, and each after a loss, goes over all processes. */
  async isSeen(): Promise<boolean> {
    if (this.#holder === undefined || !this.#isReadAt(this.#holder)) this.#holder = await this.#find();
    return this.#holder !== undefined;
  }

  async #find(): Promise<string | undefined> {
    if (this.#pipe === undefined) return undefined;
    for (const process of processes()) {
      const holder = namesIn(`/proc/${process}/fd`)
        .map((fd) => `/proc/${process}/fd/${fd}`)
        .find((file) => this.#isReadAt(file));
      if (holder !== undefined) return holder;
      await breathe();
    }
    return undefined;
  }

  #isReadAt(file: string): boolean {
    return targetOf(file) === this.#pipe && isReadable(file);
  }
}

/** All others that run now: first the parent, which most often is the one that reads. */
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

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

/** The mode of such a link is the mode in which the file was opened. */
function isReadable(link: string): boolean {
  try {
    return (lstatSync(link).mode & READABLE) !== 0;
  } catch {
    return false;
  }
}
