import { type CleanProcessOptions, type ExitStatus, startCleanProcess } from './clean-process.ts';
import { type Framing, type JsonRpcMessage, McpOutputReader } from './mcp-output.ts';

export { type CliOptions, type CliResult, runCli } from './run-cli.ts';

export interface ServerOptions extends CleanProcessOptions {
  /** Default: `['--stdio']`. */
  readonly args?: readonly string[];
  /** The framing of what the test writes; what the server writes is read in either. Default: `line`. */
  readonly framing?: Framing;
}

type RequestId = string | number;

/** The server as a child process, and the smallest client that can use it. */
export interface McpProcess {
  /** Writes one message in the framing of `startServer`. */
  send(message: object): void;
  /** Resolves with the next response that has this id (`1` is not `"1"`); rejects if the process ends before. */
  request(method: string, params?: object, id?: RequestId): Promise<JsonRpcMessage>;
  notify(method: string, params?: object): void;
  /** `tools/call`, with `meta` as `_meta`. */
  callTool(name: string, args?: object, meta?: object, id?: RequestId): Promise<JsonRpcMessage>;
  /** `initialize` and `notifications/initialized`; resolves with the response to the former. */
  initialize(params?: object): Promise<JsonRpcMessage>;
  /** Every message that the server wrote, in order. */
  readonly messages: readonly JsonRpcMessage[];
  /** The framing of each of `messages`. */
  readonly framings: readonly Framing[];
  /** Those of `messages` with a method and no id. */
  readonly notifications: readonly JsonRpcMessage[];
  /** What the server wrote to stdout that is not a message. */
  readonly junk: readonly string[];
  /** The first message, past or future, that matches; rejects if the process ends without one. */
  waitFor(predicate: (message: JsonRpcMessage) => boolean): Promise<JsonRpcMessage>;
  /** All of stdout until now, as text. */
  readonly stdout: string;
  stderr(): string;
  readonly pid: number | undefined;
  /** The HOME of the process. */
  readonly home: string;
  closeStdin(): void;
  /** Destroys the reading end of its stdout: what the server writes from now on fails. */
  closeStdout(): void;
  kill(signal?: NodeJS.Signals): void;
  /** Resolves when the process is gone and all its output was read. */
  readonly exited: Promise<ExitStatus>;
  /** Kills the process if it still runs, and removes its home. */
  dispose(): Promise<void>;
}

/** Starts the built program (or `program`) in a clean environment. Dispose it. */
export function startServer(options: ServerOptions = {}): McpProcess {
  const { args = ['--stdio'], framing = 'line' } = options;
  const { child, home, exited, removeHome } = startCleanProcess(args, options);
  const messages: JsonRpcMessage[] = [];
  const framings: Framing[] = [];
  const junk: string[] = [];
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const waiting = new Set<Waiting>();
  const stderrText = (): string => Buffer.concat(stderr).toString();
  let ended: Error | undefined;
  let nextId = 1;

  const reader = new McpOutputReader({
    message: (message, itsFraming) => {
      messages.push(message);
      framings.push(itsFraming);
      for (const waiter of waiting) {
        if (!waiter.predicate(message)) continue;
        waiting.delete(waiter);
        waiter.resolve(message);
      }
    },
    junk: (text) => void junk.push(text),
  });
  child.stdout.on('data', (bytes: Buffer) => {
    stdout.push(bytes);
    reader.push(bytes);
  });
  child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes));
  const end = (reason: string): void => {
    reader.end();
    ended = new Error(`${reason}; stderr: ${stderrText()}`);
    for (const waiter of waiting) waiter.reject(ended);
    waiting.clear();
  };
  exited.then(
    ({ code, signal }) => end(`The server exited with ${signal ?? `code ${code}`}`),
    (error) => end(`The server did not start: ${error}`),
  );

  /** A rejection that no test awaits (a test that kills the server) is not an error. */
  const nextMessage = (predicate: Waiting['predicate']): Promise<JsonRpcMessage> => {
    const promise = new Promise<JsonRpcMessage>((resolve, reject) => {
      if (ended) reject(ended);
      else waiting.add({ predicate, resolve, reject });
    });
    promise.catch(() => undefined);
    return promise;
  };
  const send = (message: object): void => void child.stdin.write(encode(message, framing));
  const notify = (method: string, params?: object): void => send({ jsonrpc: '2.0', method, params });
  const request = (method: string, params?: object, id: RequestId = nextId++): Promise<JsonRpcMessage> => {
    const response = nextMessage((message) => message.id === id && message.method === undefined);
    send({ jsonrpc: '2.0', id, method, params });
    return response;
  };

  return {
    send,
    request,
    notify,
    callTool: (name, toolArgs = {}, meta, id) => request('tools/call', { name, arguments: toolArgs, _meta: meta }, id),
    initialize: async (params = {}) => {
      const response = await request('initialize', { ...CLIENT, ...params });
      notify('notifications/initialized');
      return response;
    },
    messages,
    framings,
    get notifications() {
      return messages.filter((message) => message.method !== undefined && message.id === undefined);
    },
    junk,
    waitFor: (predicate) => {
      const known = messages.find(predicate);
      return known === undefined ? nextMessage(predicate) : Promise.resolve(known);
    },
    get stdout() {
      return Buffer.concat(stdout).toString();
    },
    stderr: stderrText,
    pid: child.pid,
    home,
    closeStdin: () => void child.stdin.end(),
    closeStdout: () => void child.stdout.destroy(),
    kill: (signal = 'SIGTERM') => void child.kill(signal),
    exited,
    dispose: async () => {
      child.kill('SIGKILL');
      await exited.catch(() => undefined);
      removeHome();
    },
  };
}

interface Waiting {
  readonly predicate: (message: JsonRpcMessage) => boolean;
  readonly resolve: (message: JsonRpcMessage) => void;
  readonly reject: (error: Error) => void;
}

const CLIENT = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test-client', version: '1.0.0' },
};

function encode(message: object, framing: Framing): string {
  const json = JSON.stringify(message);
  return framing === 'line' ? `${json}\n` : `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}
