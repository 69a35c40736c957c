import { createInterface } from 'node:readline';
import type { Typed, TypedLines } from './terminal-asker.ts';

/** A terminal from which lines are read. */
interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Reads lines from a terminal, with its keys for editing. Ctrl-D on an empty line declines, and Ctrl-C cancels: while lines are read, it is a character, and no
 * signal of the process. Lines that were pasted together are kept for the next prompts.
 */
export function readTypedLines({ input, output }: Terminal, signal: AbortSignal): TypedLines {
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  const typed: Typed[] = [];
  let onTyped = () => {};
  let end: Typed | undefined;
  const add = (one: Typed) => {
    if ('action' in one) end ??= one;
    else typed.push(one);
    onTyped();
  };
  const cancel = () => add({ action: 'cancel' });
  lines.on('line', (line) => add({ line }));
  lines.on('SIGINT', cancel);
  lines.on('close', () => add({ action: 'decline' }));
  signal.addEventListener('abort', cancel, { once: true });
  return {
    next: async (prompt) => {
      const isWaiting = typed.length === 0 && end === undefined;
      if (isWaiting) {
        lines.setPrompt(prompt);
        lines.prompt();
        await new Promise<void>((resolve) => {
          onTyped = resolve;
        });
      } else if (end === undefined) output.write(prompt);
      const [line] = typed.splice(0, 1);
      if (line !== undefined) {
        if (!isWaiting && 'line' in line) output.write(`${line.line}\n`);
        return line;
      }
      // The cursor is behind the prompt.
      output.write('\n');
      return end ?? { action: 'cancel' };
    },
    close: () => {
      signal.removeEventListener('abort', cancel);
      end ??= { action: 'cancel' };
      lines.close();
    },
  };
}
