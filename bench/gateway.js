// `POST /mcp/call` of the built program next to a bare gateway, in alternation in the same run: both call the tool of one
// stdio server, with 1 and 16 clients. Then the built program with `access` next to the one without, and its memory.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peakMemoryKb } from './lib/clean-process.js';
import { compared, median, medianRatio, printBounded, printCompared } from './lib/figures.js';
import { requestRate, startHttpProcess, untilWritten } from './lib/http-process.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = path('../build/index.js');
const MEMORY = new URL('./lib/report-memory.js', import.meta.url);

/** Requests of a run, by the number of clients. Runs are short, so that other load is the same for both programs. */
const REQUESTS = { 1: 500, 16: 1500 };
const WARM_UP_REQUESTS = 4000;
const CONNECTIONS = 16;
/** Minimum rate, as a fraction of the bare gateway's; with `access`, as a fraction of the rate without it. */
const RATE_LIMIT = 0.7;
const ACCESS_RATE_LIMIT = 0.97;
const MEMORY_LIMIT_MB = 180;
const HEAP_REQUESTS = 10_000;
const HEAP_LIMIT_KB = 0.5;

const CONFIG = `servers: [{ name: echo, command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(path('./echo-server.js'))}] }]\n`;

const WITH_ACCESS = `${CONFIG}access: { local: { servers: { echo: [ech*] } } }\n`;

/** Returns whether all limits are kept. Node writes CPU profiles to `profileFolder`, if given. */
export async function benchGateway(rounds, profileFolder) {
  const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-gateway-'));
  const config = join(home, 'config.yaml');
  const withAccess = join(home, 'access.yaml');
  writeFileSync(config, CONFIG);
  writeFileSync(withAccess, WITH_ACCESS);
  const env = { PATH: process.env.PATH, HOME: home };
  if (profileFolder) mkdirSync(profileFolder, { recursive: true });
  const profiled = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const program = [PROGRAM, '--http=127.0.0.1:0', '--config', config];
  try {
    const ours = await startHttpProcess([...profiled, ...program], env, CONNECTIONS);
    const bare = await startHttpProcess([...profiled, path('./bare-gateway.js')], env, CONNECTIONS);
    const areRatesKept = await compareRates('POST /mcp/call', ours, bare, rounds, RATE_LIMIT);
    const peakMb = (await peakMemoryKb(ours.child.pid)) / 1024;
    await stop(bare);
    const limited = await startHttpProcess([...program.slice(0, -1), withAccess], env, CONNECTIONS);
    const isAccessKept = await compareRates('with access, and without', limited, ours, rounds, ACCESS_RATE_LIMIT);
    for (const server of [ours, limited]) await stop(server);

    const observed = await startHttpProcess([`--import=${MEMORY}`, ...program], env, CONNECTIONS);
    const growthKb = await heapGrowthKb(observed);
    await stop(observed);
    const areMemoryLimitsKept = printBounded(`Gateway: memory of the built program`, [
      { what: 'peak resident memory, after the runs above', value: peakMb, unit: 'MB', limit: MEMORY_LIMIT_MB },
      { what: `heap growth per request, ${HEAP_REQUESTS} requests`, value: growthKb, unit: 'kB', limit: HEAP_LIMIT_KB },
    ]);
    return areRatesKept && isAccessKept && areMemoryLimitsKept;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function compareRates(title, ours, bare, rounds, limit) {
  const rows = [];
  for (const [clients, requests] of Object.entries(REQUESTS)) {
    const sides = [ours, bare].map((server) => ({ server, rates: [] }));
    for (const { server } of sides) await load(server, WARM_UP_REQUESTS, clients);
    for (let round = 0; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        side.rates.push(await load(side.server, requests, clients));
      }
    }
    const [our, their] = sides.map(({ rates }) => rates);
    const what = `rate, ${clients} ${clients === '1' ? 'client' : 'clients'}`;
    rows.push(compared(what, median(our), median(their), '/s', 1 / limit, medianRatio(their, our)));
  }
  return printCompared(`Gateway: ${title}, ${rounds} rounds in alternation, medians`, rows);
}

/**
 * The growth of the heap per request. On a signal, a preloaded module collects all garbage and prints the size of the heap, which
 * otherwise depends on when V8 collects. The program itself is unchanged.
 */
async function heapGrowthKb(server) {
  // A first run compiles code, and lets buffers reach their size.
  await load(server, HEAP_REQUESTS, CONNECTIONS);
  const before = await heapBytes(server);
  await load(server, HEAP_REQUESTS, CONNECTIONS);
  return ((await heapBytes(server)) - before) / HEAP_REQUESTS / 1000;
}

async function heapBytes({ child }) {
  const written = untilWritten(child, /^memory (\{.*\})\n/m);
  child.kill('SIGUSR2');
  const [, json] = await written;
  return JSON.parse(json).heap;
}

/** Requests per second. */
function load(server, requests, clients) {
  return requestRate(() => call(server), requests, Number(clients));
}

async function call({ pool }) {
  latestId += 1;
  const text = `What is the weather in Tokyo today? (${latestId})`;
  const { statusCode, body } = await pool.request({
    path: '/mcp/call',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ server: 'echo', toolName: 'echo', input: { text } }),
  });
  const answer = await body.text();
  if (statusCode !== 200 || JSON.parse(answer).result !== text) throw new Error(`HTTP ${statusCode}: ${answer}`);
}

let latestId = 0;

/** Ends the server, so that it writes its profile and ends its child. */
async function stop({ child, pool }) {
  await pool.destroy();
  const closed = once(child, 'close');
  child.kill();
  await closed;
}
