import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeWith } from './find-program.ts';
import { freePort } from './free-port.ts';

/** Tests that need a server of Valkey or Redis. */
export function describeWithRedis(name: string, tests: (file: string) => void): void {
  describeWith(['valkey-server', 'redis-server'], name, tests);
}

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ends the process. */
  readonly stop: () => Promise<void>;
}

export interface RedisServerOptions {
  /** Default: a free port. */
  readonly port?: number;
  readonly password?: string;
}

/** Starts a server on loopback that keeps nothing; resolves when it accepts connections. */
export async function startRedisServer(
  file: string,
  { port, password }: RedisServerOptions = {},
): Promise<RedisServer> {
  const usedPort = port ?? (await freePort());
  const auth = password === undefined ? [] : ['--requirepass', password];
  const args = ['--port', String(usedPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', ...auth];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (/Ready to accept connections/.test(output)) resolve();
    });
    child.once('error', reject);
    void exited.then(() => reject(new Error(`${file} did not start: ${output}`)));
  });
  return {
    port: usedPort,
    url: `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${usedPort}`,
    kill: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
