import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { attempted } from '../files/local-files.ts';
import { refuseForeignFile, sharedMode } from '../files/private-file.ts';
import type { Level, StandardError } from './standard-error.ts';

export interface StderrLoggerOptions {
  readonly debug: boolean;
  /** A file that receives the same lines as standard error, with debug only. */
  readonly debugFile?: string | undefined;
  readonly redactor: Redactor;
  readonly clock: Clock;
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
