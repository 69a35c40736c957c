import type { Logger } from '../../src/application/ports/services.ts';

/** Records what was logged, as `level line`. */
export class RecordingLogger implements Logger {
  readonly lines: string[] = [];
  readonly isDebug: boolean;

  constructor({ isDebug = false } = {}) {
    this.isDebug = isDebug;
  }

  debug(line: string): void {
    if (this.isDebug) this.lines.push(`debug ${line}`);
  }

  warn(line: string): void {
    this.lines.push(`warn ${line}`);
  }

  error(line: string): void {
    this.lines.push(`error ${line}`);
  }
}
