import { createInterface } from 'node:readline';

/**
 * The lines that a person types or pastes, from when they are read until the input ends. On a terminal they are not shown, and can be longer
 * than the 1024 or 4096 bytes that it would pass on by itself.
 */
export async function* typedLines(input: NodeJS.ReadStream, onInterrupted: () => void): AsyncGenerator<string> {
  const lines = createInterface({ input, terminal: input.isTTY === true, historySize: 0 });
  // Ctrl-C is then a character.
  lines.on('SIGINT', onInterrupted);
  try {
    yield* lines;
  } catch {
    // What cannot be read has ended.
  }
}
