/**
 * Takes standard output for MCP alone and gives back the only way to write to it: whatever else writes there from now on,
 * by `console` or otherwise, goes to standard error.
 */
export function claimStdout(): (text: string) => void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return (text) => {
    write(text);
  };
}
