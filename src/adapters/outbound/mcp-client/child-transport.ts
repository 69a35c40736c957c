import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Logger } from '../../../application/ports/logger.ts';
import { isObject, parseJson } from '../../../domain/json.ts';
import { type ChildOptions, endTree, startChild } from './child-process.ts';
import { LineReader, type ReadLine } from './line-reader.ts';
import { errorResponse, idOfResponse, LOST, TOO_LARGE } from './substitute-response.ts';

export interface ChildTransportOptions extends ChildOptions {
  /** The name of the server. */
  readonly name: string;
  /** Maximum size of a message. */
  readonly maxBytes: number;
  readonly logger: Logger;
  /** Logs the start of the process. */
  readonly logSpawn: (line: string) => void;
}

/** How much of standard error is kept. */
const STDERR_CHARS = 16 * 1024;
/** Time for what a process wrote before it ended. Others may still hold its output open. */
const LAST_OUTPUT_MS = 50;

/**
 * The transport of the official client for a child process. Other than the client's own, it ends the complete process tree, always reads
 * standard error, notices a crash at once, and never leaves a message unsettled.
 */
export class ChildTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #options: ChildTransportOptions;
  #child: ChildProcess | undefined;
  #stderr = '';
  #isClosed = false;
  #hasWarned = false;
  /** Requests without a response. */
  readonly #pending = new Set<string | number>();
  #ended: Promise<void> | undefined;

  constructor(options: ChildTransportOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Why the process has ended: its last line on standard error, else its exit code or signal. */
  get lastWords(): string | undefined {
    const line = this.#stderr.trimEnd().split('\n').at(-1)?.trim();
    const { exitCode, signalCode } = this.#child ?? {};
    const exit = signalCode ? `killed by ${signalCode}` : `exited with code ${exitCode ?? 'unknown'}`;
    if (exitCode == null && signalCode == null) return line || undefined;
    return line ? `${line} (${exit})` : exit;
  }

  /** Rejects if the command cannot be started. */
  start(): Promise<void> {
    const { name, command, logSpawn, maxBytes } = this.#options;
    return new Promise((resolve, reject) => {
      const child = startChild(this.#options);
      this.#child = child;
      const reader = new LineReader(maxBytes, (line) => this.#onLine(line));
      child.stdout?.on('data', (chunk: Buffer) => reader.push(chunk));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#onStderr(text));
      // A write to a process that has ended is reported by the callback of the write.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
      child.once('spawn', () => {
        logSpawn(`gateway: ${name}: started ${command} (pid ${child.pid})`);
        resolve();
      });
      child.once('error', (error: NodeJS.ErrnoException) => {
        reject(new Error(`cannot start ${command} (${error.code ?? error.message})`));
        void this.#onExit();
      });
      child.once('exit', () => void this.#onExit());
    });
  }

  /** Settles when the message was passed to the process, or cannot be. */
  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (stdin === null || stdin === undefined || this.#isClosed)
      return Promise.reject(new Error('the process has ended'));
    if ('method' in message && 'id' in message) this.#pending.add(message.id);
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when no process of the tree is left. */
  async close(): Promise<void> {
    this.#close();
    this.#ended ??= this.#child === undefined ? Promise.resolve() : endTree(this.#child);
    await this.#ended;
  }

  /** Children that the process left behind are ended too. */
  async #onExit(): Promise<void> {
    const child = this.#child;
    if (child?.stdout && !child.stdout.closed) {
      const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
      await Promise.race([closed, sleep(LAST_OUTPUT_MS)]);
    }
    await this.close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #onLine(line: ReadLine): void {
    if ('head' in line) {
      this.#onTooLarge(idOfResponse(line.head, line.tail));
      return;
    }
    if (line.text.trim() === '' || this.#isClosed) return;
    const message = parseJson(line.text);
    if (!isObject(message)) {
      this.#warnOnce('wrote something other than JSON to standard output; such lines are ignored');
      return;
    }
    if (!('method' in message) && (typeof message.id === 'number' || typeof message.id === 'string')) {
      this.#pending.delete(message.id);
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  /** If it cannot be known which request the response is for, all of them fail: none may wait for it. */
  #onTooLarge(id: string | number | undefined): void {
    const { maxBytes } = this.#options;
    const failed = id === undefined ? [...this.#pending] : [id];
    for (const pending of failed) {
      this.#pending.delete(pending);
      const code = id === undefined && failed.length > 1 ? LOST : TOO_LARGE;
      this.onmessage?.(errorResponse(pending, code, `a response of more than ${maxBytes} bytes`));
    }
  }

  #onStderr(text: string): void {
    this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_CHARS);
    const { logger, name } = this.#options;
    if (!logger.isDebug) return;
    for (const line of text.split('\n')) if (line.trim() !== '') logger.debug(`gateway: ${name}: ${line}`);
  }

  #warnOnce(problem: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#options.logger.warn(`gateway: ${this.#options.name} ${problem}`);
  }
}
