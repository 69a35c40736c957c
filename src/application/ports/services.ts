import type { Redactor } from '../../domain/values/redaction.ts';

/**
 * The source of time for every limit, wait and date that callers can notice. Timers of Node.js are used only where neither callers nor tests wait
 * for them: to end the rest of a process or a connection (`child-process.ts`, `mcp-connection.ts`, `remote-tool-server.ts`,
 * `api-fetch.ts`, `main.ts`), and to poll a pipe that sends no event (`reader-watch.ts`). The page uses the timers of its browser
 * (`call-runner.ts`, `requests.ts`).
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

/** The log for troubleshooting. An implementation redacts keys in every line, and writes nothing to standard output. */
export interface Logger {
  /** Whether `debug` writes anything; constant. Check it before building an expensive line. */
  readonly isDebug: boolean;
  debug(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}

/** What most parts of the program use. It is passed on as it is, and each part names what it uses of it. */
export interface Services {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}
