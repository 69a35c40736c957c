import type { Result } from 'neverthrow';

/**
 * A log to which lines are only appended. No promise rejects: a failure is a value with the reason, for people. A line that could not be written
 * is kept, unless there are too many, and is written before later lines.
 */
export interface AuditLog {
  /** Whether lines can be written. After a failure, this tries again. Does not wait for a write in progress. */
  ready(): Promise<Result<void, string>>;
  /** Appends a line, given without its line break. After that, the line is not lost if the process is killed. */
  append(line: string): Promise<Result<void, string>>;
  /** Opens the log again, because another file may have taken its place. */
  open(): Promise<Result<void, string>>;
  close(): Promise<void>;
}
