/**
 * Says what happens, for people who look for a fault. An implementation takes keys out of every line, and writes nothing
 * to standard output.
 */
export interface Logger {
  /** Whether `debug` is heard; decided once, at the start (spec 8.1). Ask before building a costly line. */
  readonly isDebug: boolean;
  debug(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}
