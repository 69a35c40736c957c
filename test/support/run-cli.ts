import { text } from 'node:stream/consumers';
import { type CleanProcessOptions, type ExitStatus, startCleanProcess } from './clean-process.ts';

export interface CliOptions extends CleanProcessOptions {
  /** The complete standard input; empty by default. */
  readonly stdin?: string | Uint8Array;
}

export interface CliResult extends ExitStatus {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program once, to its end, in a clean environment; it is killed after 150 seconds, before its test ends. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { child, exited, removeHome } = startCleanProcess(args, { timeoutMs: 150_000, ...options });
  child.stdin.end(options.stdin);
  try {
    const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { ...status, stdout, stderr };
  } finally {
    removeHome();
  }
}
