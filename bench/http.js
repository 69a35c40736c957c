// The HTTP endpoint next to a bare Hono handler, in alternation in the same run: tools/list, and calls against a local fake
// API, with 1, 16 and 256 clients, and the peak memory of both.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { compared, median, printCompared } from './lib/figures.js';
import { peakMemoryKb } from './lib/line-process.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
const CLIENTS = [1, 16, 256];
const REQUESTS = { 'tools/list': 4000, 'tools/call': 800 };

// The default limits would be measured instead of the server.
const CONFIG = 'request: { max_concurrency: 256 }\nhttp: { max_calls_per_token: 1000, max_connections: 1000 }\n';

/** Compares requests per second. Returns true, since there are no limits. */
export async function benchHttp(rounds = 5) {
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
  const ours = await start([path('../build/index.js'), '--http=127.0.0.1:0', '--config', config], env);
  const bare = await start([path('./bare-hono.js')], env);
  const { result } = await ask(ours, 'tools/list');
  await ask(bare, 'bench/set-tools', result);

  const rows = [];
  for (const [method, requests] of Object.entries(REQUESTS)) {
    for (const clients of CLIENTS) {
      const sides = [ours, bare].map((server) => ({ server, rates: [] }));
      for (const { server } of sides) await load(server, method, requests, clients);
      for (let round = 0; round < rounds; round += 1) {
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          side.rates.push(await load(side.server, method, requests, clients));
        }
      }
      const [our, their] = sides.map(({ rates }) => median(rates));
      rows.push(compared(`${method}, ${clients} at a time`, our, their, '/s', undefined, their / our));
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
  return printCompared(`HTTP: ${rounds} rounds in alternation, next to a bare Hono handler, medians`, rows);
}

/** Access lines go to a pipe that is read, as by a log collector. */
async function start(args, env) {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const [, url] = /serving MCP at (\S+)\n/.exec(output) ?? [];
    if (url) {
      child.stderr.resume();
      const { origin, pathname } = new URL(url);
      return { child, path: pathname, pool: new Pool(origin, { connections: Math.max(...CLIENTS) }) };
    }
  }
  throw new Error(`The server did not start: ${output}`);
}

/** Requests per second. Each client sends its next request when it receives a response. */
async function load(server, method, requests, clients) {
  let left = requests;
  const startedAt = performance.now();
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const params =
        method === 'tools/call' ? { name: 'answer', arguments: { query: `What is the weather? (${nextId()})` } } : {};
      const { result } = await ask(server, method, params);
      if (result === undefined) throw new Error('no answer');
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (requests / (performance.now() - startedAt)) * 1000;
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
