import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { never } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { type ChildOptions, endTree, startChild } from './child-process.ts';
import { inTurns, parseInTurns } from './in-turns.ts';
import { LastLines } from './last-lines.ts';
import { type Excess, LineReader, type ReadLine } from './line-reader.ts';
import { PendingRequests } from './pending-requests.ts';
import { errorResponse, excessResponse, LOST, readCutMessage, toResponse } from './substitute-response.ts';

export interface ChildTransportOptions extends ChildOptions {
  readonly name: string;
  /** Maximum size of a message. */
  readonly maxBytes: number;
  readonly logger: Logger;
  readonly clock: Clock;
  /** As for `endTree`. */
  readonly graceMs?: number;
  readonly logSpawn: (line: string) => void;
}

/** Time for what a process wrote before it ended. Others may still hold its output open. */
const LAST_OUTPUT_MS = 50;

/** How much a process may leave unread. Without a limit, calls that time out on a process that hangs would fill the memory. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
/** An answer to a ping of 50 bytes needs 400. So many calls hardly run at a time. */
const MAX_UNREAD = 3000;

/** How many lines that no call waits for are accepted in how long. A process that logs to its standard output is slower. */
const MAX_COUNTED = 10_000;
const COUNTED_MS = 10_000;

/**
 * The transport of the official client for a child process. Other than the client's own, it ends the complete process tree, always reads
 * standard error, notices a crash at once, and never leaves a message unsettled.
 */
export class ChildTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  readonly #options: ChildTransportOptions;
  readonly #stderr: LastLines;
  #child: ChildProcess | undefined;
  /** Resolves when the process has ended, and all its output was read. */
  #childClosed: Promise<unknown> = Promise.resolve();
  /** Why nothing can be sent to the process or received, although it runs. */
  #broken: string | undefined;
  #hasWarned = false;
  /** Counts the lines since then that no call waits for. */
  #counted = 0;
  #countedSinceMs = 0;
  /** Counts the messages that were not passed to the process. */
  #unread = 0;
  readonly #pending = new PendingRequests();
  /** Undefined until the transport is closed. */
  #ended: Promise<void> | undefined;

  constructor(options: ChildTransportOptions) {
    this.#options = options;
    const { logger, name } = options;
    this.#stderr = new LastLines(logger.isDebug ? (line) => logger.debug(`gateway: ${name}: ${line}`) : undefined);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Why the process can no longer be used: its last line on standard error, and how it ended. Undefined while it can. */
  get lostReason(): string | undefined {
    const { pid, exitCode, signalCode } = this.#child ?? {};
    if (pid === undefined) return undefined;
    let end = this.#broken;
    if (exitCode != null) end = `exited with code ${exitCode}`;
    if (signalCode != null) end = `killed by ${signalCode}`;
    return end === undefined || this.#stderr.last === '' ? end : `${this.#stderr.last} (${end})`;
  }

  /** Rejects if the command cannot be started. */
  start(): Promise<void> {
    const { name, command, logSpawn } = this.#options;
    return new Promise((resolve, reject) => {
      const child = startChild(this.#options);
      this.#child = child;
      const closed = new Promise((resolve) => child.once('close', resolve));
      this.#childClosed = Promise.all([closed, child.stdout && this.#read(child.stdout)]);
      child.stdout?.once('close', () => void this.#onLost());
      child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#stderr.push(text));
      // A write to a process that has ended is reported by the callback of the write.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
      child.once('spawn', () => {
        logSpawn(`gateway: ${name}: started ${command} (pid ${child.pid})`);
        resolve();
      });
      child.on('error', (error: NodeJS.ErrnoException) => {
        reject(new Error(`cannot start ${command} (${error.code ?? error.message}); check its command and cwd`));
        void this.close();
      });
      child.once('exit', () => void this.#onLost());
    });
  }

  /** Handles the output until it ends. Whatever the process writes affects nothing else. */
  async #read(output: AsyncIterable<Buffer>): Promise<void> {
    const reader = new LineReader(this.#options.maxBytes, (line) => this.#pending.answeredIn(line));
    try {
      for await (const chunk of output) {
        if (this.#ended === undefined) await inTurns(reader.linesOf(chunk), (line) => this.#onLine(line));
      }
    } catch {
      // Also of an output that was destroyed.
      void this.#onLost('wrote something that cannot be read');
    }
  }

  /** Settles when the message was passed to the process, or cannot be. */
  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (stdin === null || stdin === undefined || this.#ended !== undefined)
      return Promise.reject(new Error('the process has ended'));
    if (stdin.writableLength > MAX_UNREAD_BYTES || this.#unread >= MAX_UNREAD) {
      const reason = 'does not read its standard input';
      return this.#onLost(reason).then(() => Promise.reject(new Error(`the process ${reason}`)));
    }
    if ('method' in message) {
      const { method, params } = message;
      if ('id' in message) this.#pending.add(message);
      // The response to a cancelled request is not awaited.
      if (method === 'notifications/cancelled') this.#pending.settle(params?.requestId);
    }
    this.#unread += 1;
    this.#collectWrites(stdin);
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        this.#unread -= 1;
        if (!error) return resolve();
        void this.#onLost().then(() => reject(error));
      });
    });
  }

  /** What is sent in one turn of the event loop is one write: each one costs a system call here, and another one there. */
  #collectWrites(stdin: Writable): void {
    if (stdin.writableCorked > 0) return;
    stdin.cork();
    setImmediate(() => stdin.uncork());
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
    const child = this.#child;
    if (child === undefined) return;
    await endTree(child, this.#options.graceMs);
    // A process that left the tree may still hold the pipes.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }

  /** The process has ended, or nothing can be sent to it or received. What is left of it is ended too. */
  async #onLost(reason = 'closed its standard input or output'): Promise<void> {
    this.#broken ??= reason;
    const timeIsOver = this.#options.clock.sleep(LAST_OUTPUT_MS, never());
    // In a busy process, what has happened meanwhile is known only in the next turn of the event loop.
    await Promise.race([this.#childClosed, timeIsOver.then(() => nextTurn())]);
    await this.close();
  }

  #onLine(line: ReadLine): void | Promise<void> {
    if ('head' in line) return this.#onExcess(line.head, line.tail, line.excess);
    return parseInTurns(line.chunks, (message) => {
      if (this.#ended !== undefined) return;
      if (isObject(message) && 'method' in message) this.#onServerMessage(message);
      else if (isObject(message) && isId(message.id)) this.#onResponse(message.id, message);
      else this.#count(Buffer.concat(line.chunks).toString().trim() !== '');
    });
  }

  /** The other notifications are not used by this program. */
  #onServerMessage(message: JsonObject): void {
    const { jsonrpc, id, method, params } = message;
    const isMessage = jsonrpc === '2.0' && typeof method === 'string' && (id === undefined || isId(id));
    const token = method === 'notifications/progress' && isObject(params) ? Number(params.progressToken) : Number.NaN;
    const isProgress = this.#pending.has(token);
    if (!isMessage || !isProgress) this.#count(!isMessage);
    const isUsed = isProgress || id !== undefined || LIST_CHANGED.test(String(method));
    if (isMessage && isUsed) this.onmessage?.(message as JSONRPCMessage);
  }

  #onResponse(id: string | number, message: JsonObject): void {
    if (this.#pending.settle(id)) this.onmessage?.(toResponse(id, message));
    else this.#count(false);
  }

  /** If it cannot be known which request the response is for, all of them fail: none may wait for it. */
  #onExcess(head: string, tail: string, excess: Excess): void {
    const message = readCutMessage(head, tail);
    if (message.kind === 'other') return;
    const failed = message.kind === 'response' ? [Number(message.id)] : [...this.#pending];
    for (const pending of failed) {
      this.#pending.settle(pending);
      const isUncertain = message.kind === 'unknown' && failed.length > 1;
      const lost = isUncertain && errorResponse(pending, LOST, 'a response that could not be read');
      this.onmessage?.(lost || excessResponse(pending, excess, this.#options.maxBytes));
    }
  }

  /** Limits what no call waits for: it costs time too. */
  #count(isWrong: boolean): void {
    const { name, logger, clock } = this.#options;
    if (isWrong && !this.#hasWarned) {
      this.#hasWarned = true;
      logger.warn(
        `gateway: ${name} wrote something other than MCP messages to standard output; such lines are ignored`,
      );
    }
    const nowMs = clock.elapsedMs();
    if (nowMs - this.#countedSinceMs > COUNTED_MS) {
      this.#countedSinceMs = nowMs;
      this.#counted = 0;
    }
    this.#counted += 1;
    if (this.#counted === MAX_COUNTED + 1) void this.#onLost('flooded its standard output');
  }
}

function isId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
