import { fstatSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Services } from '../../../application/ports/services.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { readMessage } from '../mcp/era.ts';
import { errorMessage, type OutgoingMessage, PARSE_ERROR } from '../mcp/json-rpc.ts';
import type { McpSession } from '../mcp/session.ts';
import { type Framing, MessageReader, type ReadEvent } from './message-reader.ts';

interface StdioTransportOptions extends Pick<Services, 'logger'> {
  readonly session: McpSession;
  readonly input: Readable;
  /** Writes to the real standard output. */
  readonly write: (text: string) => void;
  /** Redacts known keys. */
  readonly redact: (text: string) => string;
  /** Whether to respond in lines, whatever framing the client uses. */
  readonly lineMode: boolean;
  readonly onInputEnded?: () => void;
}

/** The messages of one client over standard input and output. */
export class StdioTransport {
  readonly #options: StdioTransportOptions;
  readonly #pending = new Set<Promise<void>>();
  /** The framing of the output, which the first message determines. After any message that is a line, it stays `line`. */
  #framing: Framing | undefined;
  #isInitialized = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** Serves until the input has ended and every response was sent. The end of input cancels no call, and ends subscriptions. */
  async serve(): Promise<void> {
    const { input, logger } = this.#options;
    const onHeader = (bytes: number) => logger.debug(`server: headerEnd=${bytes}`);
    const reader = new MessageReader((event) => this.#onRead(event), onHeader);
    await new Promise<void>((resolve) => {
      input.on('data', (chunk: Buffer) => {
        if (logger.isDebug) logger.debug(`server: stdin chunk=${chunk.length}`);
        reader.push(chunk);
      });
      for (const end of ['end', 'close', 'error']) input.on(end, () => resolve());
    });
    reader.end();
    this.#options.onInputEnded?.();
    await this.settled();
  }

  /** Sends a notification that belongs to no request. Dropped unless the client has initialized a session, which only the legacy era has. */
  notify(method: string): void {
    if (this.#isInitialized) this.#send({ jsonrpc: '2.0', method, params: {} });
  }

  /** Resolves when every response was sent, or its call was cancelled. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #onRead(event: ReadEvent) {
    const { session, logger } = this.#options;
    if (event.kind === 'malformed') {
      logger.debug(`server: ${event.reason}`);
      const error = { code: PARSE_ERROR, message: `Parse error: ${event.reason}` };
      return this.#send(errorMessage(undefined, error), event.framing);
    }
    this.#framing = event.framing === 'line' ? 'line' : (this.#framing ?? 'framed');
    const read = readMessage(event.value);
    if ('rejection' in read) return this.#send(read.rejection);
    const { message, era } = read;
    if (message.kind === 'notification' && message.method === 'notifications/initialized') this.#isInitialized = true;
    const received = session.receive(message, era, (sent) => this.#send(sent));
    this.#pending.add(received);
    void received.finally(() => this.#pending.delete(received));
  }

  /** `framing` is used until the client has sent a message. */
  #send(message: OutgoingMessage, framing: Framing = 'line'): void {
    const { write, logger, redact, lineMode } = this.#options;
    const json = redactedJson(message, redact);
    const isLine = lineMode || (this.#framing ?? framing) === 'line';
    write(isLine ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
    if (!logger.isDebug) return;
    logger.debug(`server: send (${isLine ? 'line' : 'framed'}) bytes=${Buffer.byteLength(json)}`);
    logger.debug(`server: send json=${json}`);
  }
}

const CHECK_EVERY_MS = 250;
const STDOUT = 1;

/** Reserves standard output for MCP. Everything else that is written there goes to standard error. */
export function claimStdout() {
  const write = process.stdout.write.bind(process.stdout);
  // Standard error is opened on first use: opening it takes a millisecond of startup.
  process.stdout.write = ((...args: Parameters<typeof write>) =>
    process.stderr.write(...args)) as typeof process.stdout.write;
  return {
    write: (text: string) => void write(text),
    /** Resolves when everything written has left the process; never, if nothing reads it. */
    flushed: () => new Promise<void>((resolve) => write('', () => resolve())),
  };
}

/**
 * Calls `onGone`, maybe more than once, when nothing can read standard output any more: a write failed, or, after the end of the input, the socket
 * was closed or the parent process is gone. These two are not checked earlier, because a client that exits closes the input first. A pipe that its
 * reader closed is detected by the next write.
 */
export function onReaderGone(onGone: (reason: string) => void): void {
  const parent = process.ppid;
  process.stdout.on('error', () => onGone('standard output is closed'));
  const check = () => {
    if (process.ppid !== parent) onGone('the parent process is gone');
    else if (isSocketClosed()) onGone('standard output is closed');
  };
  process.stdin.once('close', () => setInterval(check, CHECK_EVERY_MS).unref());
}

/** Node.js gives its children sockets. An empty write fails if the other end is closed, and writes nothing if it is not. */
function isSocketClosed(): boolean {
  try {
    if (fstatSync(STDOUT).isSocket()) writeSync(STDOUT, '');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPIPE';
  }
}
