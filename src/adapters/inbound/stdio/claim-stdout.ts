/** Reserves standard output for MCP. Everything else that is written there goes to standard error. */
export function claimStdout() {
  const write = process.stdout.write.bind(process.stdout);
  // Standard error is opened on first use: opening it takes a millisecond of startup.
  process.stdout.write = ((...args: Parameters<typeof write>) =>
    process.stderr.write(...args)) as typeof process.stdout.write;
  return {
    write: (text: string) => void write(text),
    /** Resolves when everything written has left the process; never, if nothing reads it. */
    flushed: () => new Promise<void>((resolve) => write('', () => resolve())),
  };
}
