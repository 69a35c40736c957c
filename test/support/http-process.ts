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
export async function startHttpProcess(options: HttpProcessOptions = {}): Promise<HttpProcess> {
  const launched = launchHttpProcess(options);
  onTestFinished(launched.end);
  return await launched.started;
}

export type HttpProcessOptions = CleanProcessOptions & { readonly args?: readonly string[] };

/** The same for several tests, which must call `end`. */
export function launchHttpProcess({ args = ['--http=127.0.0.1:0'], ...options }: HttpProcessOptions = {}): {
  readonly started: Promise<HttpProcess>;
  readonly end: () => Promise<void>;
} {
  const { child, exited, removeHome } = startCleanProcess(args, options);
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
    removeHome();
  };
  let stderr = '';
  const listening = new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      const [, found] = /serving MCP at (\S+?)(?:"\})?\n/.exec(stderr) ?? [];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error(`The server did not start: ${stderr}`)));
  });
  const kill: HttpProcess['kill'] = (signal = 'SIGTERM') => void child.kill(signal);
  return { started: listening.then((url) => ({ url, stderr: () => stderr, kill, exited })), end };
}
