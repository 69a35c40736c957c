import { Worker } from 'node:worker_threads';
import { err, ok, type Result } from 'neverthrow';
import { Places } from '../../../application/async/places.ts';
import {
  READING_MS,
  type Readings,
  type TextReader,
  type TextRequest,
  type Unread,
} from '../../../application/ports/readers.ts';
import type { Clock } from '../../../application/ports/services.ts';

interface Options {
  /** The entry point of the thread. */
  readonly file: string;
  readonly clock: Clock;
  readonly memoryMb?: number;
}

/** Threads at the same time. A thread that a hostile text holds for its five seconds leaves one for others. */
const MAX_THREADS = 2;
/** The heap of a thread. Two of them fit beside the rest of the program into a container of 512 MiB. */
const MEMORY_MB = 128;

/**
 * Reads texts in threads. Each thread has one text at a time, so that no other text is lost if it must be ended. Threads start when they are needed and
 * wait for further texts; they do not keep the process alive.
 */
export class WorkerTextReader implements TextReader {
  readonly #options: Options;
  readonly #places = new Places(MAX_THREADS);
  readonly #waiting: Worker[] = [];
  readonly #closing = new AbortController();

  constructor(options: Options) {
    this.#options = options;
  }

  async read<Name extends keyof Readings>(
    reading: Name,
    input: Parameters<Readings[Name]>,
    caller: string,
    signal: AbortSignal,
  ): Promise<Result<ReturnType<Readings[Name]>, Unread>> {
    if ((await this.#places.acquire(caller, undefined, signal)) !== 'acquired') return err({ kind: 'cancelled' });
    try {
      return await this.#readNow<ReturnType<Readings[Name]>>({ reading, input }, signal);
    } finally {
      this.#places.release();
    }
  }

  /** Ends the threads, and with them the readings in progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#waiting.splice(0).map((worker) => worker.terminate()));
  }

  /** Reads in a thread, which is ended if it does not end by itself in time. */
  #readNow<Value>(request: TextRequest, signal: AbortSignal): Promise<Result<Value, Unread>> {
    const signals = [signal, this.#closing.signal];
    if (signals.some(({ aborted }) => aborted)) return Promise.resolve(err({ kind: 'cancelled' }));
    const worker = this.#waiting.pop() ?? this.#start();
    worker.ref();
    return new Promise((resolve, reject) => {
      const end = () => {
        cancelTimer();
        worker.off('message', onMessage);
        worker.off('error', onError);
        for (const one of signals) one.removeEventListener('abort', onAbort);
      };
      const refuse = (kind: Unread['kind']) => {
        end();
        // What a thread reports while it ends concerns no text.
        worker.on('error', () => {});
        void worker.terminate();
        resolve(err({ kind }));
      };
      const onMessage = ({ value }: { readonly value: Value }) => {
        end();
        worker.unref();
        this.#waiting.push(worker);
        resolve(ok(value));
      };
      const onError = (error: NodeJS.ErrnoException) => {
        // A text that is nested too deeply needs more of the stack than a thread has.
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY' || error instanceof RangeError) return refuse('too_large');
        end();
        reject(error);
      };
      const onAbort = () => refuse('cancelled');
      const cancelTimer = this.#options.clock.after(READING_MS, () => refuse('too_slow'));
      for (const one of signals) one.addEventListener('abort', onAbort);
      worker.on('message', onMessage);
      worker.on('error', onError);
      worker.postMessage(request);
    });
  }

  #start(): Worker {
    const { file, memoryMb: maxOldGenerationSizeMb = MEMORY_MB } = this.#options;
    // It reads texts and nothing else, so it gets no key.
    return new Worker(file, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb } });
  }
}
