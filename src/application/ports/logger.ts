/** The log for troubleshooting. An implementation redacts keys in every line, and writes nothing to standard output. */
export interface Logger {
  /** Whether `debug` writes anything; constant. Check it before building an expensive line. */
  readonly isDebug: boolean;
  debug(line: string): void;
  warn(line: string): void;
  error(line: string): void;
}
