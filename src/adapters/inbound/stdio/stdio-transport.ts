import type { Readable } from 'node:stream';
import type { Logger } from '../../../application/ports/logger.ts';
import type { OutgoingMessage } from '../mcp/json-rpc.ts';
import type { McpSession } from '../mcp/mcp-session.ts';
import { type Framing, MessageReader, type ReadEvent } from './message-reader.ts';

export interface StdioTransportOptions {
  readonly session: McpSession;
  readonly input: Readable;
  /** Writes to the real standard output. */
  readonly write: (text: string) => void;
  readonly logger: Logger;
  /** Takes known keys out of what is written (ruling 20). */
  readonly redact: (text: string) => string;
  /** `MCP_LINE_MODE=1`: answer in lines, whatever the client's framing. */
  readonly forceLines: boolean;
}

/** Carries one client's messages over standard input and output (transports 1). */
export class StdioTransport {
  readonly #options: StdioTransportOptions;
  readonly #owed = new Set<Promise<void>>();
  /** The framing of what is written; the first message decides, and a line decides for good (ruling 3). */
  #framing: Framing | undefined;
  /** A header has been begun: the next message stands in a frame, though the client may write lines meanwhile. */
  #isFrameBegun = false;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  /** Serves until the input has ended and everything owed has been sent. The end of input cancels nothing (ruling 13). */
  async serve(): Promise<void> {
    const { input, logger } = this.#options;
    const reader = new MessageReader((event) => this.#take(event));
    await new Promise<void>((resolve) => {
      input.on('data', (chunk: Buffer) => {
        if (logger.isDebug) logger.debug(`server: stdin chunk=${chunk.length}`);
        reader.push(chunk);
      });
      for (const end of ['end', 'close', 'error']) input.on(end, () => resolve());
    });
    reader.end();
    await this.settled();
  }

  /**
   * Writes what means nothing before the next message: a blank before a line, a header field that is ignored before a
   * frame. Who writes to a pipe is told so whether anybody reads it. False while it is not known how the client frames.
   */
  beginMessage(): boolean {
    const { write, forceLines } = this.#options;
    if (this.#framing === undefined && !forceLines) return false;
    this.#isFrameBegun = this.#framing === 'framed' && !forceLines;
    write(this.#isFrameBegun ? 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n' : ' ');
    return true;
  }

  /** Resolves when everything owed has been sent or given up. */
  async settled(): Promise<void> {
    while (this.#owed.size > 0) await Promise.all(this.#owed);
  }

  #take(event: ReadEvent): void {
    const { session, logger } = this.#options;
    if (event.kind === 'malformed') {
      logger.debug(`server: ${event.reason}`);
      session.refuse(event.reason, (message) => this.#send(message, this.#framing ?? event.framing));
      return;
    }
    this.#framing = event.framing === 'line' ? 'line' : (this.#framing ?? 'framed');
    const owed = session.receive(event.value, (message) => this.#send(message, this.#framing ?? 'line'));
    this.#owed.add(owed);
    void owed.finally(() => this.#owed.delete(owed));
  }

  #send(message: OutgoingMessage, framing: Framing): void {
    const { write, logger, redact, forceLines } = this.#options;
    const json = redact(JSON.stringify(message));
    const isLine = !this.#isFrameBegun && (forceLines || framing === 'line');
    this.#isFrameBegun = false;
    write(isLine ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
    if (!logger.isDebug) return;
    logger.debug(`server: send (${isLine ? 'line' : 'framed'}) bytes=${Buffer.byteLength(json)}`);
    logger.debug(`server: send json=${json}`);
  }
}
