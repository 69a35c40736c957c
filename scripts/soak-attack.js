// Normal callers beside strangers, a hostile caller, hostile servers and a flooding server, with the heap of the Kubernetes manifest.
// Prints numbers, and fails if a call of a normal caller is lost or slow, if the program ends, or if memory grows.
import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startGatewayProcess } from './lib/soak-gateway-process.js';
import { startHostileRemote } from './lib/soak-hostile-remote.js';
import { beforeAndAfter, minutes, seeded } from './lib/soak-options.js';
import { startSoakRemote } from './lib/soak-remote.js';

const lib = (name) => fileURLToPath(new URL(`./lib/${name}`, import.meta.url));
/** As in deploy/kubernetes.yaml. */
const NODE_OPTIONS = ['--max-old-space-size=336', '--max-semi-space-size=16'];
const CALLERS = 16;
const STRANGERS = 200;
const SAMPLE_MS = 10_000;
/** A response that takes longer counts as lost. */
const LOST_AFTER_MS = 20_000;
const MAX_P99_MS = 1000;
const HEAP_GROWTH_MB = 3;
const RSS_GROWTH_MB = 60;
const TOKENS = { ALICE_TOKEN: 'token-of-alice-0123456789', MALLORY_TOKEN: 'token-of-mallory-0123456789' };

const random = seeded(Number(process.env.SOAK_SEED ?? 1));
const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-soak-'));
const config = join(home, 'config.yaml');
const receivedFile = join(home, 'received');
const mark = `soak=${process.pid}-${Date.now()}`;
const problems = [];
const samples = [];
const latencies = [];
/** By tool and HTTP status, of the hostile caller. */
const outcomes = {};
const attacks = { strangers: 0, hostile: 0, unread: 0, restarts: 0 };
let calls = 0;
let lost = 0;

writeFileSync(receivedFile, '');
const remote = await startSoakRemote({ random, isHealthy: () => true, received: () => {} });
const endless = await startHostileRemote();
const child = (name, ...args) => ({ name, command: process.execPath, args });
writeFileSync(
  config,
  // JSON is YAML.
  JSON.stringify({
    http: { token_env: { alice: 'ALICE_TOKEN', mallory: 'MALLORY_TOKEN' }, allowed_hosts: ['127.0.0.1'] },
    servers: [
      child('plain', lib('soak-child.js'), mark, receivedFile),
      { name: 'remote', url: remote.url },
      child('hostile', lib('soak-hostile-child.js'), mark, 'hostile'),
      child('flood', lib('soak-hostile-child.js'), mark, 'flood'),
      { name: 'endless', url: endless.url },
    ],
  }),
);
const program = await startGatewayProcess(config, { nodeOptions: NODE_OPTIONS, env: TOKENS });
process.on('exit', () => program.kill('SIGKILL'));
let isStopping = false;
void program.exited.then((exit) => {
  if (isStopping) return;
  problems.unshift(`the program ended: ${JSON.stringify(exit)}; ${program.latestLines().join('; ')}`);
  finish();
});
const startedAt = performance.now();
const endsAt = startedAt + minutes * 60_000;
const isOver = () => performance.now() >= endsAt || problems.length > 0;
const forever = async (act, pauseMs) => {
  while (!isOver()) {
    await act();
    await wait(pauseMs * (0.5 + random()));
  }
};

const agents = Object.fromEntries(
  Object.entries(TOKENS).map(([name, token]) => [
    name,
    { token, agent: new Agent({ keepAlive: true, maxSockets: 64 }) },
  ]),
);

/** Resolves with {status, body}; with `isUnread`, with the response, of which nothing is read. */
function send(name, method, path, body, { isUnread = false, signal = AbortSignal.timeout(LOST_AFTER_MS) } = {}) {
  const { token, agent } = agents[name];
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const options = { port: program.port, host: '127.0.0.1', method, path, headers, signal };
    const sent = request({ ...options, ...(isUnread ? {} : { agent }) }, (response) => {
      response.on('error', reject);
      if (isUnread) return resolve(response);
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const call = (name, server, toolName, input, options) =>
  send(name, 'POST', '/mcp/call', { server, toolName, input }, options);

/** A call or a ping of a normal caller, which must be answered, and soon. */
async function callNormally() {
  calls += 1;
  const number = calls;
  const server = ['plain', 'remote', undefined][number % 3];
  const began = performance.now();
  try {
    const { status, body } =
      server === undefined
        ? await send('ALICE_TOKEN', 'POST', '/mcp', { jsonrpc: '2.0', id: number, method: 'ping' })
        : await call('ALICE_TOKEN', server, 'echo', { call: number });
    latencies.push(performance.now() - began);
    const expected = server === undefined ? `"id":${number}` : `echo ${number}`;
    if (status !== 200 || !body.includes(expected)) throw new Error(`HTTP ${status} ${body.slice(0, 200)}`);
  } catch (error) {
    lost += 1;
    problems.push(
      `call ${number} (${server ?? 'ping'}) after ${Math.round(performance.now() - began)} ms: ${error.message}`,
    );
  }
}

/** Connections without a token, each with 255 KB of pipelined requests, of which no response is read. */
async function strangers() {
  const health = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';
  const refused = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{}';
  const text = random() < 0.5 ? health : refused;
  const input = text.repeat(Math.floor(255_000 / text.length));
  const sockets = Array.from({ length: STRANGERS }, () => {
    const socket = connect(program.port, '127.0.0.1', () => socket.write(input));
    return socket.on('error', () => {});
  });
  attacks.strangers += sockets.length;
  await wait(2000);
  for (const socket of sockets) socket.destroy();
}

const ATTACKS = [
  () => ['pattern', { text: `${'a'.repeat(28)}!` }],
  () => ['unique', { list: Array.from({ length: 14_000 }, (_, index) => [index]) }],
  () => ['doubling', { value: 1 }],
  () => ['async', { text: 1 }],
  () => ['values', {}],
  () => ['text', {}],
  () => ['malformed', {}],
];

/** A caller with a token, and a server, that do what they can. Any answer is right. */
async function attack() {
  const [tool, input] = ATTACKS[Math.floor(random() * ATTACKS.length)]();
  attacks.hostile += 1;
  const { status = 'none' } = await call('MALLORY_TOKEN', 'hostile', tool, input).catch(() => ({}));
  const outcome = `${tool} ${status}`;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}

/** Large results that are not read. */
async function leaveUnread() {
  const gone = new AbortController();
  const signal = gone.signal;
  setMaxListeners(0, signal);
  const asked = Array.from({ length: 20 }, () =>
    call('MALLORY_TOKEN', 'hostile', 'text', {}, { isUnread: true, signal }).catch(() => {}),
  );
  attacks.unread += asked.length;
  await wait(3000);
  gone.abort();
  await Promise.all(asked);
}

/** The gateway gives up a server that floods or fails again and again; the caller starts it again. */
async function restart() {
  for (const server of ['hostile', 'flood', 'endless']) {
    attacks.restarts += 1;
    await send('MALLORY_TOKEN', 'POST', `/mcp/servers/${server}/restart`, {}).catch(() => {});
  }
}

async function sample() {
  await wait(SAMPLE_MS);
  const measured = await program.measure();
  const streams = endless.streams();
  samples.push({ ...measured, latencies: latencies.splice(0) });
  const { heap, rss, latencies: times } = samples.at(-1);
  console.log(
    [
      `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s`,
      `calls ${calls}`,
      `lost ${lost}`,
      `median ${percentile(times, 0.5)} ms`,
      `p99 ${percentile(times, 0.99)} ms`,
      `max ${percentile(times, 1)} ms`,
      ...Object.entries(attacks).map(([name, count]) => `${name} ${count}`),
      `streams ${streams}`,
      `heap ${(heap / 1e6).toFixed(1)} MB`,
      `RSS ${(rss / 1e6).toFixed(0)} MB`,
    ].join('  '),
  );
}

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
}

function growth(what, allowed) {
  const compared = beforeAndAfter(samples.map((sample) => sample[what] / 1e6));
  if (compared === undefined) return [];
  const [before, after] = compared;
  console.log(`${what}: ${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`);
  return after - before > allowed ? [`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)} MB`] : [];
}

function finish() {
  const times = samples.flatMap((sample) => sample.latencies);
  const p99 = percentile(times, 0.99);
  if (p99 > MAX_P99_MS) problems.push(`the 99th percentile is ${p99} ms`);
  problems.push(...growth('heap', HEAP_GROWTH_MB), ...growth('rss', RSS_GROWTH_MB));
  rmSync(home, { recursive: true, force: true });
  console.log(`Hostile calls: ${JSON.stringify(outcomes)}`);
  console.log(
    `Total: ${calls} calls, ${lost} lost, median ${percentile(times, 0.5)} ms, p99 ${p99} ms, max ${percentile(times, 1)} ms`,
  );
  if (problems.length > 0) {
    console.error(`FAILED:\n  ${problems.slice(0, 10).join('\n  ')}`);
    process.exit(1);
  }
  console.log('OK: every call of a normal caller was answered, and nothing grew.');
  process.exit(0);
}

console.log(`Soak under attack: ${minutes} min, ${CALLERS} callers, Node.js ${process.version}`);
await wait(3000);
await Promise.all([
  ...Array.from({ length: CALLERS }, () => forever(callNormally, 50)),
  forever(strangers, 500),
  forever(attack, 200),
  forever(leaveUnread, 2000),
  forever(restart, 11_000),
  forever(sample, 0),
]);
isStopping = true;
program.kill('SIGTERM');
const { code } = await program.exited;
if (code !== 0) problems.push(`the program ended with ${code}`);
remote.close();
endless.close();
finish();
