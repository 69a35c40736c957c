import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { never } from '../../../application/async/deadline.ts';
import type { Services } from '../../../application/ports/services.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { toJsonText } from '../../../domain/values/exact-number.ts';
import { isObject } from '../../../domain/values/json.ts';
import { hasArguments } from './child-command.ts';
import { type ChildOptions, endTree, type StartedChild, startChild } from './child-process.ts';
import { LastLines } from './last-lines.ts';
import {
  END_BYTES,
  errorResponse,
  INVALID,
  LineReader,
  type MessageEnds,
  readMessages,
  requestIdIn,
  tooLargeResponse,
} from './messages.ts';

export interface ChildTransportOptions extends ChildOptions, Pick<Services, 'clock' | 'logger'> {
  readonly name: string;
  /** Maximum size of a message. */
  readonly maxBytes: number;
  /** This and `graceMs` are parameters of `endTree`. */
  readonly programEnds: AbortSignal;
  readonly graceMs?: number;
  readonly logSpawn: (line: string) => void;
}

/** What Node.js reads at once at most. */
const FULL_CHUNK = 64 * 1024;

/** Time limit for the last output of a process that has ended, because others may still hold its output open. */
const LAST_OUTPUT_MS = 50;

const LAST_WORDS_MS = 2000;
/** Maximum length of a line that is no message, as a reason for people. */
const MAX_STRAY = 500;

/**
 * The transport of the official client for a child process. Unlike the client's own, it ends the complete process tree, always reads
 * standard error, notices a crash at once, and settles every message.
 */
export class ChildTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #options: ChildTransportOptions;
  readonly #stderr: LastLines;
  /** The last line on standard output that is no message. */
  #stray = '';
  /** When the process last wrote such a line or to standard error, and when it was lost. */
  #wroteMs = Number.NEGATIVE_INFINITY;
  #lostMs: number | undefined;
  #child: StartedChild | undefined;
  readonly #spawned: Promise<void>;
  /** Resolves when the process has ended, and all its output was read. */
  #childClosed: Promise<unknown> = Promise.resolve();
  /** Why the process cannot be used, although it is running. */
  #broken: string | undefined;
  #hasWarned = false;
  /** Undefined until the transport is closed. */
  #ended: Promise<void> | undefined;

  constructor(options: ChildTransportOptions) {
    this.#options = options;
    const { logger, name } = options;
    this.#stderr = new LastLines(logger.isDebug ? (line) => logger.debug(`gateway: ${name}: ${line}`) : undefined);
    this.#spawned = this.#spawn();
    this.#spawned.catch(() => {});
  }

  get pid(): number | undefined {
    return this.#child?.process.pid;
  }

  /** How the process ended, or why it cannot be used although it is running. Undefined while it can be used. */
  get lostReason(): string | undefined {
    const { pid, exitCode, signalCode } = this.#child?.process ?? {};
    if (pid === undefined) return undefined;
    if (signalCode != null) return `killed by ${signalCode}`;
    return exitCode == null ? this.#broken : `exited with code ${exitCode}`;
  }

  /**
   * The last line on standard error or, if there is none, on standard output, if the process wrote it shortly before it was lost. An older line is not
   * the reason.
   */
  get lastLine(): string | undefined {
    const lostMs = this.#lostMs ?? this.#options.clock.elapsedMs();
    const line = this.#stderr.last || this.#stray;
    return lostMs - this.#wroteMs > LAST_WORDS_MS || line === '' ? undefined : line;
  }

  /** Rejects if the command cannot be started. The constructor has already started it. */
  start(): Promise<void> {
    return this.#spawned;
  }

  #spawn(): Promise<void> {
    const { name, command, logSpawn } = this.#options;
    return new Promise((resolve, reject) => {
      this.#child = startChild(this.#options);
      const child = this.#child.process;
      this.#childClosed = new Promise((resolve) => child.once('close', resolve));
      if (child.stdout !== null) this.#read(child.stdout);
      child.stdout?.once('close', () => void this.#onLost());
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        this.#wroteMs = this.#options.clock.elapsedMs();
        this.#stderr.push(text);
      });
      // A write to a process that has ended is reported by the callback of the write.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
      child.once('spawn', () => {
        logSpawn(`gateway: ${name}: started ${command} (pid ${child.pid})`);
        resolve();
      });
      child.on('error', (error: NodeJS.ErrnoException) => {
        const isLine = error.code === 'ENOENT' && hasArguments(this.#options);
        const advice = isLine ? 'put the arguments of the command into args' : 'check its command and cwd';
        reject(new Error(`cannot start ${command} (${error.code ?? error.message}); ${advice}`));
        void this.close();
      });
      child.once('exit', () => void this.#onLost());
    });
  }

  /** Reads one full chunk per turn of the event loop, so that others are served during a flood. The full pipe then slows down the process. */
  #read(output: Readable): void {
    const reader = new LineReader(this.#options.maxBytes);
    output.on('data', (chunk: Buffer) => {
      try {
        for (const line of reader.linesOf(chunk)) this.#onLine(line);
      } catch {
        // A line is longer than a string can be.
        output.destroy();
      }
      if (chunk.length < FULL_CHUNK) return;
      output.pause();
      setImmediate(() => output.resume());
    });
  }

  /** Settles when the message was passed to the process, or could not be. The messages of one turn of the event loop are one write. */
  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child?.process ?? {};
    if (stdin === null || stdin === undefined || this.#ended !== undefined)
      return Promise.reject(new Error('the process has ended'));
    if (stdin.writableCorked === 0) {
      stdin.cork();
      setImmediate(() => stdin.uncork());
    }
    return new Promise((resolve, reject) => {
      stdin.write(`${toJsonText(message)}\n`, (error) => {
        if (!error) return resolve();
        void this.#onLost().then(() => reject(error));
      });
    });
  }

  /** Resolves when no process of the tree is left. */
  close(): Promise<void> {
    if (this.#ended === undefined) {
      this.#ended = this.#end();
      this.onclose?.();
    }
    return this.#ended;
  }

  async #end(): Promise<void> {
    if (this.#child === undefined) return;
    await endTree(this.#child, this.#options.programEnds, this.#options.graceMs);
    // A process that left the tree may still hold the pipes.
    const { stdin, stdout, stderr } = this.#child.process;
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  }

  /** Called when the process has ended, or cannot be used any more. Ends the rest of its tree. */
  async #onLost(reason = 'closed its standard input or output'): Promise<void> {
    this.#broken ??= reason;
    this.#lostMs ??= this.#options.clock.elapsedMs();
    const timeIsOver = this.#options.clock.sleep(LAST_OUTPUT_MS, never());
    // If this program was busy, output that has arrived meanwhile is read only in the next turn of the event loop.
    await Promise.race([this.#childClosed, timeIsOver.then(() => nextTurn())]);
    await this.close();
  }

  #onLine(line: Buffer | MessageEnds): void {
    if (this.#ended !== undefined) return;
    if ('start' in line) this.#onTooLarge(line);
    else this.#onText(line.toString());
  }

  #onText(text: string): void {
    const messages = readMessages(text)?.values.filter(isMessage) ?? [];
    for (const message of messages) this.onmessage?.(message);
    if (messages.length === 0 && text.trim() !== '') this.#onMalformed(text);
  }

  /** Fails the request of a response that is not JSON, such as one with `NaN`, if its ID can be found. Other lines are ignored. */
  #onMalformed(line: string): void {
    const id = requestIdIn(line.slice(0, END_BYTES), line.slice(-END_BYTES));
    if (typeof id === 'number') this.onmessage?.(errorResponse(id, INVALID, 'the answer is not JSON'));
    else this.#onStray(line);
  }

  #onTooLarge({ start, end }: MessageEnds): void {
    const { maxBytes } = this.#options;
    const id = requestIdIn(start, end);
    if (id === 'unknown')
      void this.#onLost(`sent a response of more than ${maxBytes} bytes to a call that cannot be identified`);
    else if (id !== undefined) this.onmessage?.(tooLargeResponse(id, maxBytes));
  }

  #onStray(line: string): void {
    const { name, logger, clock } = this.#options;
    this.#stray = shortLine(line, MAX_STRAY);
    this.#wroteMs = clock.elapsedMs();
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    logger.warn(`gateway: ${name} wrote something other than MCP messages to standard output; such lines are ignored`);
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isObject(value) && ('method' in value || 'error' in value || ['string', 'number'].includes(typeof value.id));
}
