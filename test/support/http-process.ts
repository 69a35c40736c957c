import { onTestFinished } from 'vitest';
import { type CleanProcessOptions, type ExitStatus, startCleanProcess } from './clean-process.ts';

export interface HttpProcess {
  /** The URL of the endpoint. */
  readonly url: string;
  readonly stderr: () => string;
  readonly kill: (signal?: NodeJS.Signals) => void;
  readonly exited: Promise<ExitStatus>;
}

/** The built program as an HTTP server, for one test; resolves when it listens. */
export async function startHttpProcess({
  args = ['--http=127.0.0.1:0'],
  ...options
}: CleanProcessOptions & { readonly args?: readonly string[] } = {}): Promise<HttpProcess> {
  const { child, exited, removeHome } = startCleanProcess(args, options);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    removeHome();
  });
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const [, found] = /serving MCP at (\S+)\n/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error(`The server did not start: ${stderr}`)));
  });
  return { url, stderr: () => stderr, kill: (signal = 'SIGTERM') => void child.kill(signal), exited };
}
