import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { untilAborted } from '../../../application/async/deadline.ts';
import { Places } from '../../../application/async/places.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { CheckProblem } from '../../../domain/gateway/tool-call-error.ts';
import { isFileMissing } from '../../../domain/values/missing-file.ts';
import type { CheckReport, CheckRequest } from './schema-worker.ts';

type JobOutcome = Exclude<CheckReport, string> | { readonly kind: 'unchecked'; readonly problem: CheckProblem };
type CheckOutcome = Exclude<JobOutcome, { readonly kind: 'unusable' }>;

interface Job {
  readonly server: string;
  readonly caller: string;
  /** Called when it is the turn of this job; undefined if the schema is known to be unusable then. */
  readonly toRequest: () => CheckRequest | undefined;
  /** Called before the next job: each of the others with this schema would take as long. */
  readonly onUnusable: (reason: string) => void;
}

/** Limits of the computing time of the process, which a busy machine does not shorten. The start of the thread is not part of them. */
const MAX_COMPILE_MS = 1000;
const MAX_CHECK_MS = 250;
const TOO_SLOW = { kind: 'unchecked', problem: 'too_slow' } as const;
const FAILED = { kind: 'unchecked', problem: 'failed' } as const;
const INCOMPLETE = { kind: 'unchecked', problem: 'incomplete' } as const;
const UNUSABLE: JobOutcome = { kind: 'unusable', reason: `to compile it takes more than ${MAX_COMPILE_MS} ms` };

/** More than a check needs in its time; beyond, the thread ends, and not the process. */
const MEMORY = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

/**
 * Checks values in one thread, which is started with the first check, and anew after one that took too long. Servers take turns, so that a
 * check waits at most for one of each other server, and then callers do.
 */
export class CheckingThread {
  readonly #clock: Clock;
  readonly #script: URL;
  readonly #servers = new Places(1);
  /** The callers of each server. */
  readonly #callers = new Map<string, Places>();
  #worker: Worker | undefined;
  /** Settles when the thread before has ended, which may take seconds: two would need twice the memory. */
  #ending: Promise<unknown> | undefined;
  /** Ends the check that is running. */
  #settle: (outcome: JobOutcome) => void = () => {};
  #cancelLimit = new AbortController();
  #isClosed = false;

  constructor(clock: Clock, script: URL) {
    this.#clock = clock;
    this.#script = script;
  }

  /** Undefined if the schema cannot be used. */
  async run(job: Job, signal: AbortSignal): Promise<CheckOutcome | 'aborted' | undefined> {
    const { server, caller } = job;
    const callers = this.#callers.get(server) ?? new Places(1);
    this.#callers.set(server, callers);
    if ((await callers.acquire(caller, undefined, signal)) !== 'acquired') return 'aborted';
    if ((await this.#servers.acquire(server, undefined, signal)) !== 'acquired') {
      callers.release(caller);
      return 'aborted';
    }
    // A check that is running ends soon, by itself or by its limit.
    const ended = this.#check(job).finally(() => {
      this.#servers.release(server);
      callers.release(caller);
    });
    return untilAborted(ended, signal);
  }

  /** Later checks fail. Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#lose();
    await this.#ending;
  }

  async #check({ toRequest, onUnusable }: Job): Promise<CheckOutcome | undefined> {
    const request = toRequest();
    if (request === undefined) return undefined;
    await this.#ending;
    if (this.#isClosed) return FAILED;
    try {
      this.#worker ??= this.#start();
    } catch {
      // The system has no thread left.
      return FAILED;
    }
    const worker = this.#worker;
    worker.ref();
    const outcome = await new Promise<JobOutcome>((settle) => {
      this.#settle = settle;
      worker.postMessage(request);
    });
    this.#cancelLimit.abort();
    // The process may end while there is nothing to do.
    worker.unref();
    if (outcome.kind !== 'unusable') return outcome;
    onUnusable(outcome.reason);
    return undefined;
  }

  /** Standard output belongs to MCP, and a thread needs no variables. */
  #start(): Worker {
    const options = { resourceLimits: MEMORY, env: {}, execArgv: [], stdout: true, stderr: true };
    const worker = new Worker(this.#script, options);
    const onEnd = (thrown: unknown) => {
      if (worker === this.#worker) this.#lose(isFileMissing(thrown) ? INCOMPLETE : FAILED);
    };
    worker.on('message', (report: CheckReport) => {
      if (worker === this.#worker) this.#onReport(report);
    });
    worker.on('error', onEnd);
    worker.on('exit', onEnd);
    return worker;
  }

  #onReport(report: CheckReport): void {
    if (report === 'compiling') void this.#limit(MAX_COMPILE_MS, UNUSABLE);
    else if (report === 'checking') void this.#limit(MAX_CHECK_MS, TOO_SLOW);
    else this.#settle(report);
  }

  /** The running check ends with `outcome` after this time, unless the thread reports something else until then. */
  async #limit(ms: number, outcome: JobOutcome): Promise<void> {
    this.#cancelLimit.abort();
    this.#cancelLimit = new AbortController();
    const { signal } = this.#cancelLimit;
    const start = process.cpuUsage();
    for (let leftMs = ms; leftMs > 0; ) {
      await this.#clock.sleep(leftMs, signal);
      // Reports that arrived while this process was busy are handled first.
      await nextTurn();
      if (signal.aborted) return;
      const { user, system } = process.cpuUsage(start);
      leftMs = ms - (user + system) / 1000;
    }
    this.#lose(outcome);
  }

  /** Nothing of the thread is used any more. */
  #lose(outcome: JobOutcome = FAILED): void {
    if (this.#worker !== undefined) this.#ending = this.#worker.terminate();
    this.#worker = undefined;
    this.#settle(outcome);
  }
}
