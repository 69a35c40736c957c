import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import spawn from 'cross-spawn';
import { err, ok, type Result } from 'neverthrow';
import { TIMED_OUT, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/services.ts';
import type { ValueReader, ValueReference } from '../../../application/ports/values.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import type { ValueFailure } from '../../../domain/values/value-failure.ts';
import { attempted, systemProgram } from '../files/local-files.ts';
import type { Environment } from '../network/environment.ts';

/** A person may have to unlock a vault. */
const LIMIT_MS = 30_000;
const MAX_BYTES = 64 * 1024;
/** What is kept of the standard error, of which only the last line is shown. */
const MAX_ERROR_BYTES = 4096;
const MAX_LINE = 300;
/** How long the output may stay open after the end of the command, because it may have started a process that keeps it open. */
const REST_MS = 500;

interface Options {
  readonly clock: Clock;
  readonly environment: Environment;
}

type Command = Extract<ValueReference, { readonly kind: 'command' }>;
type Read = Result<string, ValueFailure>;

/** Reads the files of this machine, and runs its commands. */
export class LocalValues implements ValueReader {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async read(reference: ValueReference, signal: AbortSignal): Promise<Read> {
    if (signal.aborted) return err({ kind: 'aborted' });
    if (reference.kind === 'file') return readValueFile(reference.path);
    const run = (limit: AbortSignal) => new CommandRun(reference, this.#options).end(limit);
    const { outcome, isTimedOut } = await withDeadline(this.#options.clock, LIMIT_MS, signal, run);
    const isLate = isTimedOut && outcome.isErr() && outcome.error.kind === 'failed';
    return isLate ? err({ ...outcome.error, kind: 'timed_out' }) : outcome;
  }
}

async function readValueFile(path: string): Promise<Read> {
  try {
    const text = toValue(await readFile(path, 'utf8'));
    return text.trim() === '' ? err({ kind: 'empty', path }) : ok(text);
  } catch (error) {
    return err({ kind: 'unreadable', path, reason: reasonOf(error) });
  }
}

/** A text without the line break at its end. */
function toValue(text: string): string {
  const end = text.endsWith('\r\n') ? -2 : text.endsWith('\n') ? -1 : undefined;
  return (text.startsWith('\uFEFF') ? text.slice(1) : text).slice(0, end);
}

/** One run of a command, which is the leader of a process group, so that everything that it started can be ended. */
class CommandRun {
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #output: Buffer[] = [];
  #bytes = 0;
  #errors = Buffer.alloc(0);

  constructor({ words: [name = '', ...args], folder, variables }: Command, { clock, environment }: Options) {
    this.#name = name;
    this.#clock = clock;
    this.#child = spawn(name, args, {
      cwd: folder,
      env: { ...environment, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  }

  /** Resolves when the command has ended, or was ended because `signal` aborts. */
  end(signal: AbortSignal): Promise<Read> {
    const child = this.#child;
    return new Promise((resolve) => {
      const onAbort = () => this.#kill();
      const finish = (read: Read) => {
        signal.removeEventListener('abort', onAbort);
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve(read);
      };
      child.once('error', (error) => finish(err(this.#failure('not_started', reasonOf(error)))));
      child.stdout?.on('data', (chunk: Buffer) => this.#keep(chunk));
      child.stderr?.on('data', (chunk: Buffer) => {
        this.#errors = Buffer.concat([this.#errors, chunk]).subarray(-MAX_ERROR_BYTES);
      });
      child.once('exit', (code, endedBy) => {
        const onClosed = () => {
          stopWaiting();
          finish(this.#outcome(String(code ?? endedBy), signal));
        };
        const stopWaiting = this.#clock.after(REST_MS, onClosed);
        child.once('close', onClosed);
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  #keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= MAX_BYTES) this.#output.push(chunk);
    else this.#kill();
  }

  #outcome(code: string, signal: AbortSignal): Read {
    if (this.#bytes > MAX_BYTES) return err(this.#failure('too_large', code));
    if (signal.aborted && signal.reason !== TIMED_OUT) return err({ kind: 'aborted' });
    if (code !== '0') return err(this.#failure('failed', code));
    const text = toValue(Buffer.concat(this.#output).toString('utf8'));
    return text.trim() === '' ? err(this.#failure('no_output', code)) : ok(text);
  }

  #failure(kind: 'not_started' | 'too_large' | 'no_output' | 'failed', code: string) {
    const lines = this.#errors.toString('utf8').split('\n');
    const last = shortLine(lines.findLast((line) => line.trim() !== '') ?? '', MAX_LINE);
    return { kind, command: this.#name, code, ...(last !== '' && { lastLine: last }) };
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (process.platform === 'win32')
      execFile(systemProgram('taskkill', process.env), ['/pid', String(pid), '/T', '/F'], () => {});
    else attempted(() => process.kill(-pid, 'SIGKILL'));
  }
}
