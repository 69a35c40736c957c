/** A JSON-RPC message, validated only as far as tests need it. */
export interface JsonRpcMessage {
  readonly jsonrpc?: string;
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type Framing = 'line' | 'framed';

/** Receives everything in the bytes, in order. */
export interface McpOutputObserver {
  message(message: JsonRpcMessage, framing: Framing): void;
  /** What is neither a message nor its frame: a line or a framed body that is not a JSON object, a blank line. */
  junk(text: string): void;
}

/**
 * Finds messages in the bytes that a server writes, in lines or in `Content-Length` frames, also mixed, in chunks of
 * any size.
 */
export class McpOutputReader {
  readonly #observer: McpOutputObserver;
  #unread = Buffer.alloc(0);

  constructor(observer: McpOutputObserver) {
    this.#observer = observer;
  }

  push(bytes: Uint8Array): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    while (this.#readOne()) {
      // Each turn takes one message, or one piece of junk.
    }
  }

  /** Reports the end of the bytes: what is left is junk. */
  end(): void {
    if (this.#unread.length > 0) this.#observer.junk(this.#take(this.#unread.length));
  }

  #readOne(): boolean {
    const lineEnd = this.#unread.indexOf('\n');
    if (lineEnd === -1) return false;

    const line = this.#unread.toString('utf8', 0, lineEnd);
    if (/^content-(length|type):/i.test(line)) return this.#readFrame();

    this.#deliver(this.#take(lineEnd + 1), 'line');
    return true;
  }

  #readFrame(): boolean {
    const headerEnd = this.#unread.indexOf('\r\n\r\n');
    if (headerEnd === -1) return false;

    const bodyStart = headerEnd + 4;
    const length = /^content-length: *(\d+) *$/im.exec(this.#unread.toString('latin1', 0, headerEnd));
    if (length === null) {
      this.#observer.junk(this.#take(bodyStart));
      return true;
    }
    const bodyBytes = Number(length[1]);
    if (this.#unread.length < bodyStart + bodyBytes) return false;

    this.#take(bodyStart);
    this.#deliver(this.#take(bodyBytes), 'framed');
    return true;
  }

  #deliver(text: string, framing: Framing): void {
    const message = parseMessage(text);
    if (message === undefined) this.#observer.junk(text);
    else this.#observer.message(message, framing);
  }

  #take(byteCount: number): string {
    const text = this.#unread.toString('utf8', 0, byteCount);
    this.#unread = this.#unread.subarray(byteCount);
    return text;
  }
}

function parseMessage(text: string): JsonRpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
