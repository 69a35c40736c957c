import type { Kind } from './kind.ts';

/** Why a value could not be read from a file or a command. Has nothing of what the command printed, but for the last line of its standard error. */
export type ValueFailure =
  | Kind<'unreadable', { path: string; reason: string }>
  | Kind<'empty', { path: string }>
  | Kind<'not_started' | 'too_large' | 'timed_out' | 'no_output' | 'failed', CommandFailure>
  | Kind<'aborted'>;

interface CommandFailure {
  /** The first word of the command. */
  readonly command: string;
  /** The exit code, the name of the signal that ended it, or the code of the operating system for a command that did not start. */
  readonly code?: string | undefined;
  readonly lastLine?: string | undefined;
}

/** Why there is no value, in words that follow a colon. */
export function valueFailureWords(failure: ValueFailure): string {
  switch (failure.kind) {
    case 'aborted':
      return 'the value was not read';
    case 'unreadable':
      return `expected a file that can be read (${failure.reason}): ${failure.path}`;
    case 'empty':
      return `the file is empty: ${failure.path}`;
    default:
      return commandWordsFor(failure);
  }
}

function commandWordsFor({ kind, command, code, lastLine }: Extract<ValueFailure, CommandFailure>): string {
  const line = lastLine === undefined ? '' : `: ${lastLine}`;
  const name = `the command ${command}`;
  switch (kind) {
    case 'not_started':
      return code === 'ENOENT'
        ? `there is no command ${command}; install it, or write its complete path`
        : `${name} could not be started (${code})`;
    case 'too_large':
      return `${name} printed more than 64 kB`;
    case 'timed_out':
      return `${name} did not end within 30 s${line}`;
    case 'no_output':
      return `${name} printed nothing (exit code ${code})${line}`;
    case 'failed':
      return `${name} failed (exit code ${code})${line}`;
  }
}
