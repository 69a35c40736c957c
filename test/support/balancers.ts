import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from '../e2e/serve.ts';
import { describeWith } from './find-program.ts';
import { freePort } from './free-port.ts';
import { send } from './http-client.ts';

interface Balancer {
  readonly name: 'nginx' | 'haproxy';
  readonly file: string;
}

interface StartedBalancer {
  readonly url: string;
  /** Leaves out the replica on a port, or none, as an operator of nginx does before a restart. HAProxy does it by itself. */
  readonly leaveOut: (port: number | undefined) => void;
}

/** Tests on each balancer of `deploy`. Where one is not installed, its tests are skipped. */
export function describeWithBalancers(tests: (balancer: Balancer) => void): void {
  for (const name of ['nginx', 'haproxy'] as const) describeWith([name], name, (file) => tests({ name, file }));
}

/** Starts the balancer of the example in `deploy` before replicas on these ports; resolves when one of them is ready. */
export async function startBalancer({ name, file }: Balancer, replicas: readonly number[]): Promise<StartedBalancer> {
  const isNginx = name === 'nginx';
  const folder = mkdtempSync(path.join(tmpdir(), `openai-responses-mcp-${name}-`));
  const port = await freePort();
  const example = readFileSync(path.join(ROOT, 'deploy', isNginx ? 'nginx.conf' : 'haproxy.cfg'), 'utf8');
  const toPort: Readonly<Record<string, number | undefined>> = {
    8080: port,
    3917: replicas[0],
    3918: replicas[1],
    3919: replicas[2],
  };
  const config = example.replace(/127\.0\.0\.1:(\d+)/g, (_, known: string) => `127.0.0.1:${toPort[known]}`);
  const configFile = path.join(folder, 'balancer.conf');
  if (isNginx) prepareNginx(folder);
  const write = (text: string) => writeFileSync(configFile, isNginx ? nginxFile(text, folder) : text);
  write(config);
  const args = isNginx ? ['-c', configFile] : ['-db', '-f', configFile];
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    // SIGTERM also ends the workers of nginx.
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const leaveOut = (left: number | undefined) => {
    if (!isNginx) return;
    write(left === undefined ? config : config.replace(`:${left} max_fails=0;`, `:${left} down;`));
    child.kill('SIGHUP');
  };
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${output}`);
    const reply = await send(`${url}/readyz`, { method: 'GET' }).catch(() => undefined);
    if (reply?.status === 200) return { url, leaveOut };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** The blocks around an included file of nginx, with everything that it writes in one folder. */
function nginxFile(included: string, folder: string): string {
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${folder}/temp/${name};`);
  const log = `error_log ${folder}/error.log;`;
  return `daemon off; pid ${folder}/pid; ${log} events {} http { access_log off; ${temporary.join(' ')}\n${included}\n}`;
}

/** As root, nginx works as another user. */
function prepareNginx(folder: string): void {
  chmodSync(folder, 0o755);
  mkdirSync(path.join(folder, 'temp'));
  chmodSync(path.join(folder, 'temp'), 0o777);
}
