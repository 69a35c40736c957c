/** Standard output, taken for MCP alone. */
export interface ClaimedStdout {
  readonly write: (text: string) => void;
  /** Resolves when all that was written has left the process; never, if nobody reads it. */
  readonly flushed: () => Promise<void>;
}

/**
 * Takes standard output for MCP and gives back the only way to write to it: whatever else writes there from now on, by
 * `console` or otherwise, goes to standard error.
 */
export function claimStdout(): ClaimedStdout {
  const write = process.stdout.write.bind(process.stdout);
  // Standard error opens when something is said there: to open it takes a millisecond of the start.
  process.stdout.write = ((...said: Parameters<typeof write>) =>
    process.stderr.write(...said)) as typeof process.stdout.write;
  return {
    write: (text) => {
      write(text);
    },
    flushed: () => new Promise((resolve) => write('', () => resolve())),
  };
}
