import type { Writable } from 'node:stream';
import type { Clock } from '../../../application/ports/clock.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { type Redactor, redactedJson } from '../../../domain/values/redaction.ts';

/** The forms of the log: lines for people, or only lines of JSON. */
export const LOG_FORMS = ['text', 'json'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Maximum size of the output that waits in memory while standard error is not read. */
const MAX_UNREAD = 1024 * 1024;

type Output = Pick<Writable, 'write' | 'writableLength' | 'listenerCount' | 'on' | 'once'>;

interface StandardErrorOptions {
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly output?: Output;
}

/** Standard error of a process that serves: everything that is written there has the form of `server.log`. There is one per process. */
export class StandardError {
  /** Text until the configuration is known. */
  form: LogForm = 'text';
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  readonly #output: Output | undefined;
  /** The number of lines that were not written, because nothing read standard error. */
  #dropped = 0;
  #awaitsReader = false;
  /** The lines of `recordSoon` that are not written yet; undefined before the first. */
  #pending: string | undefined;

  /** `output` is standard error of the process by default. */
  constructor({ redactor, clock, output }: StandardErrorOptions) {
    this.#redactor = redactor;
    this.#clock = clock;
    this.#output = output;
  }

  /** Writes a message for people, which may have several lines. As JSON, it is one line. */
  say(level: Level, message: string): void {
    this.write(this.lineOf(level, this.#redactor.inLogs(withoutUnsafeCharacters(message)).trimEnd()));
  }

  /** Writes an object in one line, in both forms. As JSON, it also has the members that all lines have. */
  record(entry: JsonObject): void {
    this.write(this.#recordOf(entry));
  }

  /** Like `record`, but the lines of one turn of the event loop are one write. Those of the last turn are written when the process ends. */
  recordSoon(entry: JsonObject): void {
    const flush = () => this.write('');
    if (this.#pending === undefined) process.once('exit', flush);
    if (!this.#pending) setImmediate(flush);
    this.#pending = (this.#pending ?? '') + this.#recordOf(entry);
  }

  #recordOf(entry: JsonObject): string {
    const common = { time: this.#clock.now().toISOString(), level: 'info' };
    const line = this.form === 'json' ? { ...common, ...entry } : entry;
    return `${redactedJson(line, this.#redactor.inLogs)}\n`;
  }

  /** A line of the log for a message without secrets. In text, it begins with `prefix`, in place of members for level and time. */
  lineOf(level: Level, message: string, prefix = ''): string {
    if (this.form === 'text') return `${prefix}${message}\n`;
    return `${JSON.stringify({ time: this.#clock.now().toISOString(), level, message })}\n`;
  }

  /** Writes complete lines. While too much waits to be read, they are counted instead. A log that cannot be written is no reason to stop serving. */
  write(more: string): void {
    const lines = (this.#pending ?? '') + more;
    if (lines === '') return;
    if (this.#pending) this.#pending = '';
    const output = this.#output ?? process.stderr;
    // A closed standard error is reported by an event, which ends the process if nothing listens to it.
    if (output.listenerCount('error') === 0) output.on('error', () => {});
    try {
      if (output.writableLength < MAX_UNREAD) {
        this.#sayDropped(output);
        output.write(lines);
      } else this.#drop(lines, output);
    } catch {}
  }

  #drop(lines: string, output: Output): void {
    this.#dropped += lines.split('\n').length - 1;
    if (this.#awaitsReader) return;
    this.#awaitsReader = true;
    output.once('drain', () => {
      this.#awaitsReader = false;
      this.#sayDropped(output);
    });
  }

  #sayDropped(output: Output): void {
    if (this.#dropped === 0) return;
    const message = `log: lines missing here, because standard error was not read: ${this.#dropped}`;
    this.#dropped = 0;
    output.write(this.lineOf('warn', message));
  }
}
