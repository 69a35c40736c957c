import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { type Failure, failureJson } from '../failure-json.ts';
import type { CommandContext } from './terminal.ts';

export interface FailureOptions extends Pick<CommandContext, 'redactor' | 'isTerminal' | 'out' | 'err'> {
  readonly json: boolean;
}

/** Reports why a command failed: in words on standard error, and with `json` also in the form of REST on standard output. */
export function reportFailure(options: FailureOptions, failure: Failure, words = failure.message): void {
  const { json, redactor, isTerminal, out, err } = options;
  if (json) {
    const text = failureJson(failure, redactor, 2);
    out(`${isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  }
  const shown = failure.returned === undefined ? redactor.inLogs(words) : redactor.anywhere(words);
  err.write(`${shown.trimEnd()}\n`);
}
