import { readFileSync } from 'node:fs';
import { err, ok, type Result } from 'neverthrow';

/** A file's text, or why it cannot be read, in the system's word (`ENOENT`). */
export function readText(path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch (error) {
    return err((error as NodeJS.ErrnoException).code ?? String(error));
  }
}

/** Why an attempt fails, in the system's word; undefined if it does not. */
export function faultOf(attempt: () => void): string | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}
