import wrapAnsi from 'wrap-ansi';
import type { Services } from '../../../application/ports/services.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { type Failure, failureJson } from '../failure-json.ts';
import { fitted } from './terminal-lines.ts';

export interface CommandContext extends Services {
  /** How this person starts the program, which advised commands repeat. */
  readonly ownCommand?: OwnCommand | undefined;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Whether standard output is a terminal: characters that control it or hide text are then removed. A program gets the output unchanged. */
  readonly isTerminal?: boolean;
  /** Whether standard output is a terminal that has styles, which a person may switch off. */
  readonly hasStyles?: boolean | undefined;
  /** The width of the terminal that shows standard output; undefined if it is none. */
  readonly columns?: number | undefined;
  /** Standard error. Progress is shown only on a terminal. */
  readonly err: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
}

type Message = string | (() => string);

const CLEAR_LINE = '\r\u001B[2K';

/**
 * Shows the current progress and the elapsed time in one line on standard error, until `end` removes it. Undefined if there is no terminal, or if
 * debug lines would be written into this line. A message that is a function is called each time that the line is shown.
 */
export function openLine({ err, clock, logger }: Pick<CommandContext, 'err' | 'clock' | 'logger'>, first?: Message) {
  if (err.isTTY !== true || logger.isDebug) return undefined;
  const startedMs = clock.elapsedMs();
  const ended = new AbortController();
  let message: Message = '';
  let besides = 0;
  const draw = () => {
    if (ended.signal.aborted || besides > 0) return;
    const elapsed = Math.floor((clock.elapsedMs() - startedMs) / 1000);
    const columns = Math.max(widthOf(err) - 1, 1);
    const options = { hard: true, wordWrap: false, trim: false };
    const [fitting] = wrapAnsi(
      `${elapsed} s  ${typeof message === 'string' ? message : message()}`,
      columns,
      options,
    ).split('\n', 1);
    err.write(`${CLEAR_LINE}${fitting}`);
  };
  const show = (shown: Message) => {
    message = shown;
    draw();
  };
  const refresh = async () => {
    while ((await clock.sleep(1000, ended.signal)) === 'elapsed') draw();
  };
  void refresh();
  if (first !== undefined) show(first);
  const end = () => {
    ended.abort();
    err.write(CLEAR_LINE);
  };
  /** Removes the line while something else is shown, such as questions. */
  const aside = async <T>(run: () => Promise<T>): Promise<T> => {
    besides += 1;
    err.write(CLEAR_LINE);
    try {
      return await run();
    } finally {
      besides -= 1;
      draw();
    }
  };
  return { show, end, aside };
}

export interface FailureOptions extends Pick<CommandContext, 'redactor' | 'isTerminal' | 'ownCommand' | 'out' | 'err'> {
  readonly json: boolean;
}

/** Reports why a command failed: in words on standard error, and with `json` also in the form of REST on standard output. */
export function reportFailure(options: FailureOptions, failure: Failure, words = failure.message): void {
  const { json, redactor, isTerminal, ownCommand, out, err } = options;
  if (json) {
    const text = failureJson(failure, redactor, 2);
    out(`${isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  }
  const shown = failure.returned === undefined ? redactor.inLogs(words) : redactor.anywhere(words);
  say(shown.trimEnd(), { err, ownCommand });
}

/** Writes words for a person to standard error, in lines of the width of the terminal. */
export function say(words: string, { err, ownCommand }: Pick<CommandContext, 'err' | 'ownCommand'>): void {
  err.write(`${fitted(words, { columns: err.isTTY === true ? widthOf(err) : undefined, ownCommand, hang: 0 })}\n`);
}

/** The width of a terminal, which some do not report. */
export function widthOf({ columns }: { readonly columns?: number | undefined }): number {
  return columns || 80;
}
