import type { Result } from 'neverthrow';

/**
 * A log to which lines are only appended. The promises never reject: a failure is its reason, for people. A line that could not be written is
 * kept, unless there are too many, and is written before later lines.
 */
export interface AuditLog {
  /** Whether lines can be written: after a failure, this is tried now. A write in progress is not awaited. */
  ready(): Promise<Result<void, string>>;
  /** Resolves when the line, without a line break, was written. It is then not lost if the process is killed. */
  append(line: string): Promise<Result<void, string>>;
  /** Opens the log: something else may be in its place. */
  open(): Promise<Result<void, string>>;
  close(): Promise<void>;
}
