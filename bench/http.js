// The HTTP endpoint next to a bare Hono handler: tools/list, and calls against a local fake API, with 1, 16 and 256 clients, and
// the peak memory of both.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peakMemoryKb } from './lib/clean-process.js';
import { compared, inTurn, printRows } from './lib/figures.js';
import { post, startHttpProcess, stopHttpProcess } from './lib/http-process.js';
import { nextId, requestRate } from './lib/load.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
/** Requests of a run by the number of clients: runs are short, so that other load is the same for all programs. */
const METHODS = [
  { method: 'tools/list', requests: { 1: 600, 16: 1200, 256: 1536 }, limit: { atMost: 1.4 } },
  { method: 'tools/call', requests: { 1: 200, 16: 400, 256: 768 }, limit: { atMost: 1.2 } },
];
const CONNECTIONS = 256;
const WARM_UP_REQUESTS = 3000;
const PEAK_MEMORY_LIMIT = { atMost: 1.1 };

// With the default limits, the limits would be measured instead of the server.
const CONFIG = 'request: { max_concurrency: 256 }\nhttp: { max_calls_per_token: 1000, max_connections: 1000 }\n';

/** Compares the mean time of a request. Returns whether the limits are kept. Node writes CPU profiles to `profileFolder`, if given. */
export async function benchHttp({ programs, rounds, profileFolder }) {
  const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-http-'));
  const config = join(home, 'config.yaml');
  writeFileSync(config, CONFIG);
  const api = spawn(process.execPath, [path('./fake-api.js'), REPLY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = String((await once(api.stdout, 'data'))[0]).split('\n');
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    OPENAI_API_KEY: 'sk-bench-0123456789',
    OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
  };
  const profiled = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const start = (...args) => startHttpProcess([...profiled, ...args], env, CONNECTIONS);
  const bare = await start(path('./bare-hono.js'));
  const ours = await Promise.all(programs.map((program) => start(program, '--http=127.0.0.1:0', '--config', config)));
  const { result: tools } = await ask(ours[0], 'tools/list');
  await ask(ours[0], 'tools/call', question());
  const apiRequest = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  await ask(bare, 'bench/set', { tools, apiRequest });

  const servers = [bare, ...ours];
  const rows = [];
  for (const { method, requests, limit } of METHODS) {
    for (const server of servers) await meanMs(server, method, WARM_UP_REQUESTS, 16);
    for (const [clients, count] of Object.entries(requests)) {
      const take = (server) => meanMs(server, method, count, Number(clients));
      const [bareTimes, ...times] = await inTurn(servers, rounds, take);
      const what = `${method}, time with ${clients} ${clients === '1' ? 'client' : 'clients'}`;
      rows.push(compared({ what, builds: times, bares: [bareTimes], unit: 'ms', limit }));
    }
  }
  const [bareMb, ...mb] = await Promise.all(servers.map(async ({ child }) => [(await peakMemoryKb(child.pid)) / 1024]));
  for (const server of servers) await stopHttpProcess(server);
  api.kill();
  rmSync(home, { recursive: true, force: true });
  rows.push(compared({ what: 'peak memory', builds: mb, bares: [bareMb], unit: 'MB', limit: PEAK_MEMORY_LIMIT }));
  return printRows(`HTTP: ${rounds} rounds, next to a bare Hono handler`, rows);
}

/** The mean time of a request in milliseconds. */
async function meanMs(server, method, requests, clients) {
  const askOnce = async () => {
    const { result } = await ask(server, method, method === 'tools/call' ? question() : {});
    if (result === undefined) throw new Error('no answer');
  };
  return (clients / (await requestRate(askOnce, requests, clients))) * 1000;
}

function question() {
  return { name: 'answer', arguments: { query: `What is the weather? (${nextId()})` } };
}

async function ask(server, method, params = {}) {
  const { json } = await post(server, server.path, { jsonrpc: '2.0', id: nextId(), method, params });
  return json;
}
