import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

/** Valkey or Redis, the first on the PATH; undefined if there is none. */
export function findRedisServer({ PATH = '' } = process.env): string | undefined {
  const files = ['valkey-server', 'redis-server'].flatMap((name) =>
    PATH.split(path.delimiter).map((folder) => path.join(folder, name)),
  );
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The name of a skipped test. */
export const NO_REDIS_SERVER =
  'needs valkey-server or redis-server on the PATH (Debian: apt-get install valkey-server)';

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
  return address.port;
}
