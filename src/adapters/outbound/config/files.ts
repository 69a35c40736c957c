import { readFileSync } from 'node:fs';

/** A file's text, or why it cannot be read, in the system's word (`ENOENT`). */
export function readText(path: string): { readonly text: string } | { readonly fault: string } {
  try {
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { fault: (error as NodeJS.ErrnoException).code ?? String(error) };
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
