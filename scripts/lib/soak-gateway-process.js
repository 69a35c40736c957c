// The built program as a gateway: its process, its log, and requests to it.
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../build/index.js', import.meta.url));
const MEMORY = new URL('./soak-memory.js', import.meta.url);
const MAX_SOCKETS = 256;

/** Starts the program, and resolves when it listens. `onProblem` gets lines of its log that are not expected. */
export async function startGatewayProcess(config, { onProblem = () => {}, nodeOptions = [], env = {} } = {}) {
  const args = [...nodeOptions, `--import=${MEMORY}`, PROGRAM, '--http=127.0.0.1:0', '--config', config];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LLM_ADAPTER: 'offline', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  /** Lines of the log by their kind. */
  const account = { accessLines: 0, reloads: 0, refusedReloads: 0, restarts: 0 };
  const waiting = { url: undefined, memory: undefined };
  const url = new Promise((resolve, reject) => {
    waiting.url = resolve;
    void exited.then(() => reject(new Error('the program did not start')));
  });
  // The error is reported by `exited`.
  url.catch(() => {});
  const latest = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    latest.push(line);
    if (latest.length > 5) latest.shift();
    if (line.startsWith('{')) account.accessLines += 1;
    else if (line.startsWith('memory ')) waiting.memory?.(JSON.parse(line.slice(7)));
    else if (line.includes('serving MCP at ')) waiting.url(new URL(line.split(' ').at(-1)));
    else if (/^gateway: the configuration was read again/.test(line)) account.reloads += 1;
    else if (/the configuration has problems, so that nothing was changed/.test(line)) account.refusedReloads += 1;
    else if (/is unavailable and is started again/.test(line)) account.restarts += 1;
    else if (!/gateway: \S+(?:: started| failed and is not started again)|^Waiting up to|^page: /.test(line)) {
      onProblem(`on standard error: ${line}`);
    }
  });
  const { port } = await url;
  let agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });

  return {
    account,
    exited,
    port,
    /** Of standard error. */
    latestLines: () => latest,
    /** Resolves with {status, body}. Rejects if there is no complete response, or with `signal`. */
    send: (method, path, body, signal) =>
      new Promise((resolve, reject) => {
        const headers = body === undefined ? {} : { 'content-type': 'application/json' };
        const sent = request({ port, host: '127.0.0.1', method, path, headers, agent, signal }, (response) => {
          const chunks = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode, body: JSON.parse(text) });
          });
        });
        sent.on('error', reject);
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    closeConnections: () => {
      agent.destroy();
      agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
    },
    measure: () =>
      new Promise((resolve) => {
        waiting.memory = resolve;
        child.kill('SIGUSR2');
      }),
    kill: (signal) => child.kill(signal),
  };
}
