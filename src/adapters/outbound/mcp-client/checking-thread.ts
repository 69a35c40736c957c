import { Worker } from 'node:worker_threads';
import { untilAborted } from '../../../application/deadline.ts';
import { FairQueue } from '../../../application/fair-queue.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { CheckProblem } from '../../../domain/tool-call-error.ts';
import type { CheckReport, CheckRequest } from './schema-worker.ts';

export type CheckOutcome =
  | Exclude<CheckReport, string>
  | { readonly kind: 'unchecked'; readonly problem: CheckProblem };

interface Job extends CheckRequest {
  readonly server: string;
  readonly caller: string;
}
interface WaitingJob extends Job {
  readonly settle: (outcome: CheckOutcome) => void;
}

/** Limits of the computing time of the process, which a busy machine does not shorten. The start of the thread is not part of them. */
const MAX_COMPILE_MS = 1000;
const MAX_CHECK_MS = 250;
const TOO_SLOW: CheckOutcome = { kind: 'unchecked', problem: 'too_slow' };
const FAILED: CheckOutcome = { kind: 'unchecked', problem: 'failed' };
const UNUSABLE: CheckOutcome = { kind: 'unusable', reason: `to compile it takes more than ${MAX_COMPILE_MS} ms` };

/** More than a check needs in its time; beyond, the thread ends, and not the process. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Checks values in one thread, which is started with the first job, and anew after a job that took too long. Servers take turns, so that a
 * job waits at most for one job of each other server, and then callers do.
 */
export class CheckingThread {
  readonly #clock: Clock;
  readonly #script: URL;
  /** The waiting jobs of each server; the servers are in the order of their turns. */
  readonly #queues = new Map<string, FairQueue<WaitingJob>>();
  #worker: Worker | undefined;
  #running: WaitingJob | undefined;
  #cancelLimit = () => {};
  #isClosed = false;

  constructor(clock: Clock, script: URL) {
    this.#clock = clock;
    this.#script = script;
  }

  async run(job: Job, signal: AbortSignal): Promise<CheckOutcome | 'aborted'> {
    const { server, caller } = job;
    let remove = () => {};
    const outcome = new Promise<CheckOutcome>((settle) => {
      const queue = this.#queues.get(server) ?? new FairQueue<WaitingJob>(1);
      const onEnd = (outcome: CheckOutcome) => {
        // Its next turn comes after those of the servers that wait now.
        this.#queues.delete(server);
        if (!queue.isEmpty) this.#queues.set(server, queue);
        settle(outcome);
      };
      const waiting = { ...job, settle: onEnd };
      queue.add(caller, waiting);
      this.#queues.set(server, queue);
      remove = () => queue.remove(caller, waiting);
    });
    this.#next();
    const ended = await untilAborted(outcome, signal);
    // A job that is running ends soon, by itself or by its limit.
    if (ended === 'aborted') remove();
    return ended;
  }

  /** Later jobs fail. Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const ended = this.#worker?.terminate();
    this.#lose();
    await ended;
  }

  #next(): void {
    if (this.#running !== undefined) return;
    this.#running = this.#take();
    if (this.#running === undefined) {
      // The process may end while there is nothing to do.
      this.#worker?.unref();
      return;
    }
    if (this.#isClosed) {
      this.#settle(FAILED);
      return;
    }
    const { schema, value } = this.#running;
    try {
      this.#worker ??= this.#start();
    } catch {
      // The system has no thread left.
      this.#settle(FAILED);
      return;
    }
    this.#worker.ref();
    this.#worker.postMessage({ schema, value } satisfies CheckRequest);
  }

  #take(): WaitingJob | undefined {
    for (const queue of this.#queues.values()) {
      const job = queue.take();
      if (job !== undefined) return job;
    }
    return undefined;
  }

  /** Standard output belongs to MCP, and a thread needs no variables. */
  #start(): Worker {
    const options = { resourceLimits: MEMORY, env: {}, execArgv: [], stdout: true, stderr: true };
    const worker = new Worker(this.#script, options);
    const onEnd = () => {
      if (worker === this.#worker) this.#lose();
    };
    worker.on('message', (report: CheckReport) => {
      if (worker === this.#worker) this.#onReport(report);
    });
    worker.on('error', onEnd);
    worker.on('exit', onEnd);
    return worker;
  }

  #onReport(report: CheckReport): void {
    if (report === 'compiling') this.#limit(MAX_COMPILE_MS, UNUSABLE);
    else if (report === 'checking') this.#limit(MAX_CHECK_MS, TOO_SLOW);
    else this.#settle(report);
  }

  /** The running job ends with `outcome` after this time, unless the thread reports something else until then. */
  #limit(ms: number, outcome: CheckOutcome): void {
    this.#cancelLimit();
    const start = process.cpuUsage();
    let isCancelled = false;
    let cancelTimer = () => {};
    const wait = (leftMs: number) => {
      // Reports that arrived while this process was busy are handled first.
      cancelTimer = this.#clock.after(leftMs, () => setImmediate(onTimer));
    };
    const onTimer = () => {
      if (isCancelled) return;
      const { user, system } = process.cpuUsage(start);
      const leftMs = ms - (user + system) / 1000;
      if (leftMs > 0) wait(leftMs);
      else this.#lose(outcome);
    };
    this.#cancelLimit = () => {
      isCancelled = true;
      cancelTimer();
    };
    wait(ms);
  }

  /** Nothing of the thread is used any more. */
  #lose(outcome = FAILED): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#settle(outcome);
  }

  #settle(outcome: CheckOutcome): void {
    this.#cancelLimit();
    const ended = this.#running;
    ended?.settle(outcome);
    this.#running = undefined;
    // Each of the others with this schema would take as long.
    if (outcome.kind === 'unusable') for (const job of this.#waitingFor(ended?.schema)) job.settle(outcome);
    this.#next();
  }

  /** Takes the waiting jobs with this schema out of their queues. */
  #waitingFor(schema: string | undefined): readonly WaitingJob[] {
    return [...this.#queues.values()].flatMap((queue) => {
      const jobs = [...queue.inOrder()].filter((job) => job.schema === schema);
      for (const job of jobs) queue.remove(job.caller, job);
      return jobs;
    });
  }
}
