import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';

export interface CommandContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** How this person starts the program, which advised commands repeat. */
  readonly ownCommand?: OwnCommand | undefined;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Whether standard output is a terminal: characters that control it or hide text are then removed. A program gets the output unchanged. */
  readonly isTerminal?: boolean;
  /** Standard error. Progress is shown only on a terminal. */
  readonly err: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
}
