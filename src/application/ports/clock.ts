/**
 * The source of time: of every limit, wait and date that callers can notice. The timers of Node.js are used only where no caller waits for
 * them and tests need not: to end what is left of a process or a connection (`child-process.ts`, `mcp-connection.ts`,
 * `remote-tool-server.ts`, `response-reader.ts`, `main.ts`), and to look at what sends no event (`reader-watch.ts`). The page has the timers
 * of its browser (`call-runner.ts`, `keep-loading.ts`).
 */
export interface Clock {
  now(): Date;

  /** Milliseconds since a fixed instant; never decreases. */
  elapsedMs(): number;

  /** Resolves with `elapsed` after `ms` and never earlier, or with `aborted` as soon as `signal` aborts. Leaves no timer and no listener. */
  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'>;

  /** Calls `run` once, `ms` later and never earlier, unless the returned function is called. Costs less than a sleep that is aborted. */
  after(ms: number, run: () => void): () => void;
}
