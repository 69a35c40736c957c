import { closeSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { withoutUnsafeCharacters } from '../../../domain/unsafe-characters.ts';

export interface StderrLoggerOptions {
  readonly debug: boolean;
  /** Where debug lines go as well, besides standard error. */
  readonly debugFile?: string;
  readonly redactor: Redactor;
  readonly clock: Clock;
}

/** Writes to standard error, and to a file where one is configured. Keys are taken out of every line (ruling 20). */
export class StderrLogger implements Logger {
  readonly isDebug: boolean;
  readonly #redactor: Redactor;
  readonly #clock: Clock;
  readonly #file: number | undefined;

  /** Throws if the debug file cannot be opened; the configuration has been checked for that before. */
  constructor({ debug, debugFile, redactor, clock }: StderrLoggerOptions) {
    this.isDebug = debug;
    this.#redactor = redactor;
    this.#clock = clock;
    this.#file = debug && debugFile !== undefined ? openDebugFile(debugFile) : undefined;
  }

  debug(line: string): void {
    if (this.isDebug) this.#write('DEBUG', line);
  }

  warn(line: string): void {
    this.#write('WARN', line);
  }

  error(line: string): void {
    this.#write('ERROR', line);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #write(level: string, line: string): void {
    const said = this.#redactor.inLogs(asOneLine(line));
    const text = `[openai-responses-mcp] ${this.#clock.now().toISOString()} ${level} ${said}\n`;
    hearErrors();
    // A log that cannot be written is no reason to stop serving.
    try {
      process.stderr.write(text);
      if (this.#file !== undefined) writeSync(this.#file, text);
    } catch {}
  }
}

/** A line as it may be shown: nothing in it drives a terminal, or looks like another line. */
function asOneLine(text: string): string {
  return withoutUnsafeCharacters(text.replace(/\r\n?|[\n\u2028\u2029]/g, '\\n'));
}

/** A debug file holds answers: a new one is made for its owner alone. */
export function openDebugFile(path: string): number {
  return openSync(path, 'a', 0o600);
}

/** A closed standard error tells its fault by an event; unheard it would be a fault of ours. Loggers share one listener. */
function hearErrors(): void {
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore);
}

function ignore(): void {}
