import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { Logger, Services } from '../../../application/ports/services.ts';
import { clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { styled } from '../../../domain/values/terminal-style.ts';
import { attempted } from '../files/local-files.ts';
import { refuseForeignFile, sharedMode } from '../files/written-files.ts';

export interface StderrLoggerOptions extends Pick<Services, 'clock' | 'redactor'> {
  readonly debug: boolean;
  /** A file that receives the same lines as standard error, with debug only. */
  readonly debugFile?: string | undefined;
  readonly stderr: StandardError;
}

/** Maximum length of a warning or an error. An exception may contain a text of any length, and texts are logged only with debug. */
const MAX_LENGTH = 1000;

/** Writes to standard error, and to a file if one is configured. Keys are removed from every line. */
export class StderrLogger implements Logger {
  readonly isDebug: boolean;
  readonly #options: StderrLoggerOptions;
  readonly #file: number | undefined;

  /** Throws if the debug file cannot be opened, which the check of the configuration reports before. */
  constructor(options: StderrLoggerOptions) {
    const { debug, debugFile } = options;
    this.isDebug = debug;
    this.#options = options;
    this.#file = debug && debugFile !== undefined ? openDebugFile(debugFile) : undefined;
    const mode = this.#file && sharedMode(fstatSync(this.#file));
    if (mode !== undefined) this.warn(`other users can open the debug file, whose mode is ${mode}: ${debugFile}`);
  }

  debug(line: string): void {
    if (this.isDebug) this.#write('debug', line);
  }

  warn(line: string): void {
    this.#write('warn', line, MAX_LENGTH);
  }

  error(line: string): void {
    this.#write('error', line, MAX_LENGTH);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #write(level: Level, line: string, maxLength = Number.POSITIVE_INFINITY): void {
    const { redactor, clock, stderr } = this.#options;
    // A line must not control a terminal, or look like several lines.
    const oneLine = withoutUnsafeCharacters(line.replace(/\r\n?|[\n\u2028\u2029]/g, '\\n'));
    // Keys are masked before the cut, because a part of a key would not be recognized.
    const shown = clip(redactor.inLogs(oneLine), maxLength);
    const prefix = `[openai-responses-mcp] ${clock.now().toISOString()} ${level.toUpperCase()} `;
    const text = stderr.lineOf(level, shown, prefix);
    stderr.write(text);
    // A full disk is no reason to stop serving.
    const file = this.#file;
    if (file !== undefined) attempted(() => writeSync(file, text));
  }
}

/** Opens a debug file. It contains answers, so a new one can be read only by its owner, and one of another user is refused. */
export function openDebugFile(path: string): number {
  const file = openSync(path, 'a', 0o600);
  try {
    refuseForeignFile(fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The forms of the log: lines for people, or only lines of JSON. */
export const LOG_FORMS = ['text', 'json'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

type Level = 'debug' | 'info' | 'warn' | 'error';

const COLOURS = { debug: 'cyan', warn: 'yellow', error: 'red' } as const;

/** Maximum size of the output that waits in memory while standard error is not read. */
const MAX_UNREAD = 1024 * 1024;

type Output = Pick<Writable, 'write' | 'writableLength' | 'listenerCount' | 'on' | 'once'> & {
  readonly hasColors?: () => boolean;
};

/** Standard error of a process that serves: everything that is written there has the form of `server.log`. There is one per process. */
export class StandardError {
  /** Text until the configuration is known. `terminal` is for a person who watches a server: all lines have the time of day, and none is JSON. */
  form: LogForm | 'terminal' = 'text';
  readonly #services: Pick<Services, 'clock' | 'redactor'>;
  readonly #output: Output | undefined;
  /** The number of lines that were not written, because nothing read standard error. */
  #dropped = 0;
  #awaitsReader = false;
  /** The lines of `recordSoon` that are not written yet; undefined before the first. */
  #pending: string | undefined;

  /** `output` is standard error of the process by default. */
  constructor(services: Pick<Services, 'clock' | 'redactor'>, output?: Output) {
    this.#services = services;
    this.#output = output;
  }

  /** Writes a message for people, which may have several lines. As JSON, it is one line. */
  say(level: Level, message: string): void {
    this.write(this.lineOf(level, this.#services.redactor.inLogs(withoutUnsafeCharacters(message)).trimEnd()));
  }

  /** Writes an object in one line, in both forms. As JSON, it also has the members that all lines have. */
  record(entry: JsonObject): void {
    this.write(this.#recordOf(entry));
  }

  /** Like `record`, but the lines of one turn of the event loop are one write. Those of the last turn are written when the process ends. */
  recordSoon(entry: JsonObject): void {
    this.#writeSoon(this.#recordOf(entry));
  }

  /** Like `recordSoon`, in words. */
  saySoon(message: string): void {
    this.#writeSoon(this.lineOf('info', this.#services.redactor.inLogs(withoutUnsafeCharacters(message))));
  }

  #writeSoon(line: string): void {
    const flush = () => this.write('');
    if (this.#pending === undefined) process.once('exit', flush);
    if (!this.#pending) setImmediate(flush);
    this.#pending = (this.#pending ?? '') + line;
  }

  #recordOf(entry: JsonObject): string {
    const common = { time: this.#services.clock.now().toISOString(), level: 'info' };
    const line = this.form === 'json' ? { ...common, ...entry } : entry;
    return `${redactedJson(line, this.#services.redactor.inLogs)}\n`;
  }

  /** A line of the log for a message without secrets. In text, it begins with `prefix`, in place of members for level and time. */
  lineOf(level: Level, message: string, prefix = ''): string {
    if (this.form === 'text') return `${prefix}${message}\n`;
    if (this.form === 'terminal') return this.#terminalLine(level, message);
    return `${JSON.stringify({ time: this.#services.clock.now().toISOString(), level, message })}\n`;
  }

  #terminalLine(level: Level, message: string): string {
    const time = this.#services.clock.now().toTimeString().slice(0, 8);
    const mark = level.toUpperCase();
    if (level === 'info') return `${time} ${message}\n`;
    // Node.js reads the variables about styles, such as NO_COLOR and TERM.
    const hasStyles = (this.#output ?? process.stderr).hasColors?.() === true;
    return `${time} ${styled(COLOURS[level], mark, hasStyles)} ${message}\n`;
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
