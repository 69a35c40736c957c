import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { refuseForeignFile, sharedMode } from '../files/private-file.ts';

export interface StderrLoggerOptions {
  readonly debug: boolean;
  /** A file that receives the same lines as standard error, with debug only. */
  readonly debugFile?: string | undefined;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

/** Maximum length of a warning or an error. An exception may contain a text of any length, and texts are logged only with debug. */
const MAX_LENGTH = 1000;

/** Maximum size of the output that waits in memory while nobody reads standard error. */
const MAX_UNREAD = 1024 * 1024;

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
    if (this.isDebug) this.#write('DEBUG', line);
  }

  warn(line: string): void {
    this.#write('WARN', line, MAX_LENGTH);
  }

  error(line: string): void {
    this.#write('ERROR', line, MAX_LENGTH);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #write(level: string, line: string, maxLength = Number.POSITIVE_INFINITY): void {
    const { redactor, clock } = this.#options;
    // A line must not control a terminal, or look like several lines.
    const oneLine = withoutUnsafeCharacters(line.replace(/\r\n?|[\n\u2028\u2029]/g, '\\n'));
    // Keys are masked before the cut, because a part of a key would not be recognized.
    const shown = clip(redactor.inLogs(oneLine), maxLength);
    const text = `[openai-responses-mcp] ${clock.now().toISOString()} ${level} ${shown}\n`;
    // A closed standard error is reported by an event, which ends the process if nothing listens to it.
    if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
    // A log that cannot be written is no reason to stop serving.
    try {
      if (process.stderr.writableLength < MAX_UNREAD) process.stderr.write(text);
      if (this.#file !== undefined) writeSync(this.#file, text);
    } catch {}
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
