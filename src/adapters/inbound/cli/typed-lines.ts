import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { Typed, TypedLines } from './terminal-asker.ts';

/** A terminal from which lines are read. */
interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly setRawMode?: (isRaw: boolean) => unknown };
  readonly output: NodeJS.WritableStream;
}

/**
 * Reads lines from a terminal, with its keys for editing. Ctrl-D on an empty line declines, and Ctrl-C cancels: while lines are read, it is a character, and no
 * signal of the process. Lines that were pasted together are kept for the next prompts. When the terminal is closed, the question is cancelled.
 */
export function readTypedLines({ input, output }: Terminal, signal: AbortSignal): TypedLines {
  // With a terminal as its input, `readline` throws an error that nothing can catch when the terminal is closed.
  const keys = new PassThrough();
  const lines = createInterface({ input: keys, output, terminal: true, historySize: 0 });
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
  input.on('end', cancel).on('error', cancel).pipe(keys, { end: false });
  setRaw(input, true);
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
      // The cursor is after the prompt.
      output.write('\n');
      return end ?? { action: 'cancel' };
    },
    close: () => {
      signal.removeEventListener('abort', cancel);
      end ??= { action: 'cancel' };
      input.off('end', cancel).off('error', cancel).unpipe(keys).pause();
      setRaw(input, false);
      lines.close();
    },
  };
}

/** Makes the terminal pass on each key at once, or whole lines again. The settings of a closed terminal cannot be changed. */
function setRaw(input: Terminal['input'], isRaw: boolean): void {
  try {
    input.setRawMode?.(isRaw);
  } catch {}
}
