// Calls of a tool of one stdio server through the gateway, with 1 and 16 clients: `POST /mcp/call`, and `tools/call` over HTTP and
// stdio, next to a bare gateway. Then REST with `access` next to REST without it, and the memory of the program.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { peakMemoryKb } from './lib/clean-process.js';
import { bounded, compared, inTurn, printRows } from './lib/figures.js';
import { post, startHttpProcess, stopHttpProcess, untilWritten } from './lib/http-process.js';
import { nextId, requestRate } from './lib/load.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BARE = path('./bare-gateway.js');
const MEMORY = new URL('./lib/report-memory.js', import.meta.url);

/** Requests of a run, by the number of clients. Runs are short, so that other load is the same for all programs. */
const REQUESTS = { 1: 300, 16: 1000 };
const WARM_UP_REQUESTS = 3000;
const CONNECTIONS = 16;
/** Limits of the rate, by the number of clients, as a multiple of the bare gateway's; with `access`, of the rate without it. */
const LIMITS = { 1: { atLeast: 0.85 }, 16: { atLeast: 0.8 } };
const ACCESS_LIMITS = { 1: { atLeast: 0.97 }, 16: { atLeast: 0.97 } };
const MEMORY_LIMIT_MB = 140;
const HEAP_REQUESTS = 6000;
const HEAP_LIMIT_KB = 0.5;

// JSON is YAML.
const PLAIN = {
  servers: [{ name: 'echo', command: process.execPath, args: [path('./echo-server.js')] }],
  gateway: { expose: true },
};
const WITH_ACCESS = { ...PLAIN, access: { local: { servers: { echo: ['ech*'] } } } };

/** Returns whether all limits are kept. Node writes CPU profiles to `profileFolder`, if given. */
export async function benchGateway({ programs, rounds, profileFolder }) {
  const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-gateway-'));
  const env = { PATH: process.env.PATH, HOME: home, OPENAI_API_KEY: 'sk-bench-0123456789' };
  const configFile = (name, config) => {
    writeFileSync(join(home, name), JSON.stringify(config));
    return join(home, name);
  };
  const plain = configFile('config.yaml', PLAIN);
  const withAccess = configFile('access.yaml', WITH_ACCESS);
  const profiled = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const start = (...args) => startHttpProcess([...profiled, ...args], env, CONNECTIONS);
  const startPrograms = (config, ...nodeArgs) =>
    Promise.all(programs.map((program) => start(...nodeArgs, program, '--http=127.0.0.1:0', '--config', config)));
  try {
    const bare = await start(BARE);
    const ours = await startPrograms(plain);
    const rest = await compareRates('POST /mcp/call', [overRest(bare)], ours.map(overRest), rounds, LIMITS);
    const bareMcp = await overHttp(bare, 'echo');
    const mcp = await Promise.all(ours.map((server) => overHttp(server, 'echo__echo')));
    const http = await compareRates('tools/call over HTTP', [bareMcp], mcp, rounds, LIMITS);
    const peakMb = await Promise.all(ours.map(async ({ child }) => (await peakMemoryKb(child.pid)) / 1024));
    for (const server of [bare, ...ours]) await stopHttpProcess(server);

    // Both are new processes, because Node compiles better what has run longer.
    const [open, limited] = [await startPrograms(plain), await startPrograms(withAccess)];
    const sides = [open.map(overRest), limited.map(overRest)];
    const access = await compareRates('POST /mcp/call with access, and without', ...sides, rounds, ACCESS_LIMITS);
    for (const server of [...open, ...limited]) await stopHttpProcess(server);

    const stdio = [
      startServer({ script: BARE, env, nodeArgs: profiled }),
      ...programs.map((script) =>
        startServer({ script, args: ['--stdio', '--config', plain], env, nodeArgs: profiled }),
      ),
    ];
    for (const server of stdio) await server.initialize();
    const [bareStdio, ...stdioCalls] = stdio.map((server, index) =>
      overStdio(server, index === 0 ? 'echo' : 'echo__echo'),
    );
    const overPipes = await compareRates('tools/call over stdio', [bareStdio], stdioCalls, rounds, LIMITS);
    await Promise.all(stdio.map((server) => server.close()));

    const observed = await startPrograms(plain, `--import=${MEMORY}`);
    const growthKb = [];
    for (const server of observed) growthKb.push(await heapGrowthKb(server));
    for (const server of observed) await stopHttpProcess(server);
    const memory = [
      bounded({ what: 'peak memory after REST and HTTP', builds: peakMb, unit: 'MB', atMost: MEMORY_LIMIT_MB }),
      bounded({ what: 'heap growth per request', builds: growthKb, unit: 'kB', atMost: HEAP_LIMIT_KB }),
    ];
    const rows = [...rest, ...http, ...overPipes, ...access, ...memory];
    return printRows(`Gateway: calls per second, ${rounds} rounds, next to a bare gateway`, rows);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Rows for 1 and 16 clients; a side is a function that calls the tool with a text and returns the text of the result. */
async function compareRates(title, bares, builds, rounds, limits) {
  const sides = [...bares, ...builds];
  for (const side of sides) await rate(side, WARM_UP_REQUESTS, CONNECTIONS);
  const rows = [];
  for (const [clients, requests] of Object.entries(REQUESTS)) {
    const figures = await inTurn(sides, rounds, (side) => rate(side, requests, Number(clients)));
    rows.push(
      compared({
        what: `${title}, ${clients} ${clients === '1' ? 'client' : 'clients'}`,
        builds: figures.slice(bares.length),
        bares: figures.slice(0, bares.length),
        unit: '/s',
        limit: limits[clients],
      }),
    );
  }
  return rows;
}

function rate(call, requests, clients) {
  const callOnce = async () => {
    const text = `What is the weather in Tokyo today? (${nextId()})`;
    const result = await call(text);
    if (result !== text) throw new Error(`The result is ${result}`);
  };
  return requestRate(callOnce, requests, clients);
}

function overRest(server) {
  return async (text) =>
    (await post(server, '/mcp/call', { server: 'echo', toolName: 'echo', input: { text } })).json.result;
}

/** All clients share the session, if the server gives one. */
async function overHttp(server, name) {
  const revision = '2025-06-18';
  const session = { 'mcp-protocol-version': revision };
  const send = (message) => post(server, server.path, { jsonrpc: '2.0', ...message }, session);
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  const { headers } = await send({ id: nextId(), method: 'initialize', params });
  if (headers['mcp-session-id'] !== undefined) session['mcp-session-id'] = headers['mcp-session-id'];
  await send({ method: 'notifications/initialized' });
  return async (text) => {
    const { json } = await send({ id: nextId(), method: 'tools/call', params: { name, arguments: { text } } });
    return json.result?.content[0].text;
  };
}

function overStdio(server, name) {
  return async (text) => (await server.callTool(name, { text })).result?.content[0].text;
}

/**
 * The growth of the heap per request. On a signal, a preloaded module collects all garbage and prints the size of the heap, which
 * otherwise depends on when V8 collects. The program itself is unchanged.
 */
async function heapGrowthKb(server) {
  // A first run compiles code, and lets buffers reach their size.
  await rate(overRest(server), HEAP_REQUESTS, CONNECTIONS);
  const before = await heapBytes(server);
  await rate(overRest(server), HEAP_REQUESTS, CONNECTIONS);
  return ((await heapBytes(server)) - before) / HEAP_REQUESTS / 1000;
}

async function heapBytes({ child }) {
  const written = untilWritten(child, /^memory (\{.*\})\n/m);
  child.kill('SIGUSR2');
  const [, json] = await written;
  return JSON.parse(json).heap;
}
