import type { Result } from 'neverthrow';
import type { ValueFailure } from '../../domain/values/value-failure.ts';

/** A value that is in a file, or that a command prints. Equal references are one value. */
export type ValueReference =
  | {
      readonly kind: 'file';
      /** An absolute path. */
      readonly path: string;
    }
  | {
      readonly kind: 'command';
      readonly words: readonly string[];
      /** The folder in which it runs, as an absolute path. */
      readonly folder: string;
      /** Variables that it gets beside those of this program. */
      readonly variables?: Readonly<Record<string, string>>;
    };

/**
 * Reads values from files and commands. A value has no byte order mark, and not the line break at its end. The promise never rejects. A command runs
 * without a shell and without standard input, with the environment of this program, for at most 30 s; its output has at most 64 kB.
 */
export interface ValueReader {
  /** When `signal` aborts, the command and everything that it started are ended. */
  read(reference: ValueReference, signal: AbortSignal): Promise<Result<string, ValueFailure>>;
}

/** How a message names the place of a value: a file by its path, a command by its first word. */
export function placeOf(reference: ValueReference): string {
  return reference.kind === 'file' ? `file ${reference.path}` : `command ${reference.words[0] ?? ''}`;
}
