// The HTTP endpoint next to a bare Hono handler, in alternation in the same run: tools/list, and calls against a local fake
// API, with 1, 16 and 256 clients, and the peak memory of both.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peakMemoryKb } from './lib/clean-process.js';
import { compared, median, medianRatio, printBounded, printCompared } from './lib/figures.js';
import { requestRate, startHttpProcess } from './lib/http-process.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
const CLIENTS = [1, 16, 256];
const METHODS = [
  { method: 'tools/list', requests: 4000 },
  { method: 'tools/call', requests: 800, limit: 1.6 },
];
const PEAK_MEMORY_LIMIT_MB = 200;

// With the default limits, the limits would be measured instead of the server.
const CONFIG = 'request: { max_concurrency: 256 }\nhttp: { max_calls_per_token: 1000, max_connections: 1000 }\n';

/** Compares requests per second. Returns whether the limits are kept. */
export async function benchHttp(rounds) {
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
  const connections = Math.max(...CLIENTS);
  const ours = await startHttpProcess(
    [path('../build/index.js'), '--http=127.0.0.1:0', '--config', config],
    env,
    connections,
  );
  const bare = await startHttpProcess([path('./bare-hono.js')], env, connections);
  const { result: tools } = await ask(ours, 'tools/list');
  await ask(ours, 'tools/call', question());
  const apiRequest = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  await ask(bare, 'bench/set', { tools, apiRequest });

  const rows = [];
  for (const { method, requests, limit } of METHODS) {
    for (const clients of CLIENTS) {
      const sides = [ours, bare].map((server) => ({ server, rates: [] }));
      for (const { server } of sides) await load(server, method, requests, clients);
      for (let round = 0; round < rounds; round += 1) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          side.rates.push(await load(side.server, method, requests, clients));
        }
      }
      const [our, their] = sides.map(({ rates }) => rates);
      const label = `${method}, ${clients} at a time`;
      rows.push(compared(label, median(our), median(their), '/s', limit, medianRatio(their, our)));
    }
  }
  const [ourMb, theirMb] = await Promise.all(
    [ours, bare].map(async ({ child }) => (await peakMemoryKb(child.pid)) / 1024),
  );
  rows.push(compared('peak memory', ourMb, theirMb, 'MB'));
  for (const server of [ours, bare]) {
    await server.pool.destroy();
    server.child.kill('SIGKILL');
  }
  api.kill();
  rmSync(home, { recursive: true, force: true });
  const areKept = printCompared(`HTTP: ${rounds} rounds in alternation, next to a bare Hono handler, medians`, rows);
  const memory = { what: 'peak memory', value: ourMb, unit: 'MB', limit: PEAK_MEMORY_LIMIT_MB };
  return printBounded('HTTP: memory after all of these', [memory]) && areKept;
}

/** Requests per second. */
function load(server, method, requests, clients) {
  const askOnce = async () => {
    const { result } = await ask(server, method, method === 'tools/call' ? question() : {});
    if (result === undefined) throw new Error('no answer');
  };
  return requestRate(askOnce, requests, clients);
}

function question() {
  return { name: 'answer', arguments: { query: `What is the weather? (${nextId()})` } };
}

async function ask({ pool, path }, method, params = {}) {
  const { statusCode, body } = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: nextId(), method, params }),
  });
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}: ${await body.text()}`);
  return body.json();
}

let latestId = 0;

function nextId() {
  latestId += 1;
  return latestId;
}
