import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';

export interface CommandContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** The typed `--config` and `--servers`, which advised commands repeat. */
  readonly typed?: string | undefined;
  /** Writes to standard output. */
  readonly out: (text: string) => void;
  /** Whether a person sees standard output: it is then without characters that control a terminal or hide text. A program gets it unchanged. */
  readonly isTerminal?: boolean;
  /** Standard error. Progress is shown only on a terminal. */
  readonly err: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
}
