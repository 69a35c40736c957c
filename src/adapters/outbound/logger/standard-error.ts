import type { Clock } from '../../../application/ports/clock.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { type Redactor, redactedJson } from '../../../domain/values/redaction.ts';

/** The forms of the log: lines for people, or only lines of JSON. */
export const LOG_FORMS = ['text', 'json'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Maximum size of the output that waits in memory while nobody reads standard error. */
const MAX_UNREAD = 1024 * 1024;

/** Standard error of a process that serves: everything that is written there has the form of `server.log`. There is one per process. */
export class StandardError {
  /** Text until the configuration is known. */
  form: LogForm = 'text';
  readonly #redactor: Redactor;
  readonly #clock: Clock;

  constructor({ redactor, clock }: { readonly redactor: Redactor; readonly clock: Clock }) {
    this.#redactor = redactor;
    this.#clock = clock;
  }

  /** Writes a message for people, which may have several lines. As JSON, it is one line. */
  say(level: Level, message: string): void {
    this.write(this.lineOf(level, this.#redactor.inLogs(withoutUnsafeCharacters(message)).trimEnd()));
  }

  /** Writes an object in one line, in both forms. As JSON, it also has the members that all lines have. */
  record(entry: JsonObject): void {
    const common = { time: this.#clock.now().toISOString(), level: 'info' };
    const line = this.form === 'json' ? { ...common, ...entry } : entry;
    this.write(`${redactedJson(line, this.#redactor.inLogs)}\n`);
  }

  /** A line of the log for a message without secrets. In text, it begins with `prefix`, in place of members for level and time. */
  lineOf(level: Level, message: string, prefix = ''): string {
    if (this.form === 'text') return `${prefix}${message}\n`;
    return `${JSON.stringify({ time: this.#clock.now().toISOString(), level, message })}\n`;
  }

  /** Writes complete lines. A log that cannot be written is no reason to stop serving. */
  write(lines: string): void {
    // A closed standard error is reported by an event, which ends the process if nothing listens to it.
    if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
    try {
      if (process.stderr.writableLength < MAX_UNREAD) process.stderr.write(lines);
    } catch {}
  }
}
