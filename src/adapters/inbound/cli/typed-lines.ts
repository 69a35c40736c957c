import { createInterface } from 'node:readline';

/**
 * Yields the lines that a person types or pastes, until the input ends. A terminal does not show them, and they can be longer than the 1024 or
 * 4096 bytes to which it otherwise limits a line.
 */
export async function* typedLines(input: NodeJS.ReadStream, onInterrupted: () => void): AsyncGenerator<string> {
  const lines = createInterface({ input, terminal: input.isTTY === true, historySize: 0 });
  // While lines are read from a terminal, Ctrl-C is a character, and no signal of the process.
  lines.on('SIGINT', onInterrupted);
  try {
    yield* lines;
  } catch {
    // An input that cannot be read has ended.
  }
}
