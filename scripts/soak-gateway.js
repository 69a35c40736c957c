// Sends random calls to the built program as a gateway, while its servers crash, time out and are reloaded, and callers
// disconnect. Prints numbers, and fails if a call is lost or sent twice, if a process remains, or if memory or handles grow.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startGatewayProcess } from './lib/soak-gateway-process.js';
import { beforeAndAfter, minutes, seeded } from './lib/soak-options.js';
import { startSoakRemote } from './lib/soak-remote.js';

if (process.platform === 'win32') {
  console.error('The soak of the gateway uses signals, which Windows does not have.');
  process.exit(2);
}

const CHILD = fileURLToPath(new URL('./lib/soak-child.js', import.meta.url));
const CALLERS = 24;
const PHASE_MS = 10_000;
/** The time limit of calls that have none of their own; no call of the soak takes that long. */
const TIMEOUT_MS = 20_000;
/** A response that takes longer counts as lost. */
const LOST_AFTER_MS = TIMEOUT_MS + 10_000;
const MAX_RESPONSE_BYTES = 256 * 1024;
const SERVERS = ['plain', 'wrapped', 'narrow', 'changing', 'extra', 'remote'];
const SETTLE_MS = 20_000;

/** Allowed growth from the second quarter of the time to the last, at rest. */
const HEAP_GROWTH_MB = 3;
const RSS_GROWTH_MB = 40;
const HANDLES_GROWTH = 2;

const random = seeded(Number(process.env.SOAK_SEED ?? 1));
const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-soak-'));
const config = join(home, 'config.yaml');
const receivedFile = join(home, 'received');
/** By which the processes of this run are found. */
const MARK = `soak=${process.pid}-${Date.now()}`;

/** Tool, input, time limit, and the outcomes that are right if the server is up. */
const KINDS = [
  () => ['echo', {}, undefined, ['answered']],
  () => ['echo', {}, 15_000, ['answered']],
  () => ['sleep', { ms: Math.floor(random() * 300) }, undefined, ['answered']],
  () => ['sleep', { ms: 1000 }, 50 + Math.floor(random() * 200), ['TIMEOUT_ERROR']],
  () => ['fail', {}, undefined, ['TOOL_EXECUTION_ERROR']],
  () => ['big', { bytes: 100_000 }, undefined, ['answered']],
  () => ['big', { bytes: MAX_RESPONSE_BYTES + 1000 }, undefined, ['RESPONSE_TOO_LARGE']],
  () => ['echo', { call: 'no number' }, undefined, ['VALIDATION_ERROR']],
  () => ['unknown', {}, undefined, ['TOOL_NOT_FOUND']],
  () => (random() < 0.02 ? ['die', {}, undefined, ['SERVER_CRASHED']] : ['echo', {}, undefined, ['answered']]),
];

/** What crashes, restarts and reloads of the server may cause in addition. */
const ALWAYS = ['SERVER_CRASHED', 'SERVER_NOT_RUNNING'];
const OF_SERVER = {
  narrow: ['OVERLOADED'],
  extra: ['SERVER_NOT_FOUND'],
  // It sometimes answers with HTTP 500.
  remote: ['TOOL_EXECUTION_ERROR'],
};

const problems = [];
const outcomes = {};
const samples = [];
const inFlight = new Set();
const receivedRemotely = [];
let calls = 0;
let disconnected = 0;
let kills = 0;
let hangups = 0;
let isResting = true;

writeFileSync(receivedFile, '');
const remote = await startSoakRemote({
  random,
  isHealthy: () => isResting,
  received: (call) => receivedRemotely.push(call),
});
const layout = { hasExtra: true, version: 1 };
writeConfig();
const gateway = await startGatewayProcess(config, { onProblem: (problem) => problems.push(problem) });
process.on('exit', () => gateway.kill('SIGKILL'));
let isStopping = false;
void gateway.exited.then((exit) => {
  if (isStopping) return;
  problems.unshift(`the program ended unexpectedly: ${JSON.stringify(exit)}; ${gateway.latestLines().join('; ')}`);
  finish();
});
const startedAt = performance.now();
const endsAt = startedAt + minutes * 60_000;

/** Traffic and failures for some seconds, then a rest, in which the memory is measured. */
async function phase() {
  const phaseEndsAt = Math.min(endsAt, performance.now() + PHASE_MS);
  const isOver = () => performance.now() >= phaseEndsAt;
  isResting = false;
  const repeat = async (everyMs, act) => {
    while (!isOver()) {
      await wait(Math.min(everyMs * 2 * random(), Math.max(0, phaseEndsAt - performance.now())));
      if (!isOver()) await act();
    }
  };
  await Promise.all([
    ...Array.from({ length: CALLERS }, () => repeat(40, callOnce)),
    repeat(3000, killServer),
    repeat(4000, reload),
    repeat(3000, async () => remote.forgetSessions()),
    repeat(1000, readLists),
  ]);
  isResting = true;
  await untilAvailable();
  for (const server of SERVERS) await checkAvailable(server);
  gateway.closeConnections();
  await wait(300);
  const sample = await gateway.measure();
  samples.push(sample);
  report(sample);
}

/** One call, with what may come of it. */
async function callOnce() {
  const server = pick(SERVERS);
  const [tool, input, timeout, expected] = pick(KINDS)();
  calls += 1;
  const call = calls;
  const gone = new AbortController();
  const timers = [
    setTimeout(() => gone.abort('lost'), LOST_AFTER_MS),
    ...(random() < 0.08 ? [setTimeout(() => gone.abort('disconnected'), random() * 200)] : []),
  ];
  inFlight.add(call);
  try {
    const body = { server, toolName: tool, input: { call, ...input }, ...(timeout === undefined ? {} : { timeout }) };
    check(call, server, await gateway.send('POST', '/mcp/call', body, gone.signal), expected);
  } catch (error) {
    if (gone.signal.reason === 'disconnected') disconnected += 1;
    else
      problems.push(
        `call ${call} (${server}/${tool}) was lost: ${gone.signal.aborted ? 'no response' : error.message}`,
      );
  } finally {
    for (const timer of timers) clearTimeout(timer);
    inFlight.delete(call);
  }
}

function check(call, server, { status, body }, expected, tolerated = [...ALWAYS, ...(OF_SERVER[server] ?? [])]) {
  const outcome = body.success ? 'answered' : body.error.code;
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (![...expected, ...tolerated].includes(outcome)) {
    problems.push(`call ${call} of ${server}: HTTP ${status} ${JSON.stringify(body).slice(0, 300)}`);
  }
  if (body.success && !new RegExp(`^(?:echo|slept|big) ${call}\\b`).test(body.result)) {
    problems.push(`call ${call} of ${server} got ${String(body.result).slice(0, 100)}`);
  }
}

/** Kills the process of an available server, as the out-of-memory killer does. Restarts servers that were given up. */
async function killServer() {
  const servers = await serverStates();
  for (const { name, state } of servers) if (state === 'failed') await restart(name);
  const running = servers.filter(({ pid }) => pid !== undefined);
  if (running.length === 0) return;
  kills += 1;
  try {
    process.kill(pick(running).pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Adds or removes a server and changes another; one time in four, the file has a problem. */
async function reload() {
  hangups += 1;
  if (random() < 0.25) writeFileSync(config, 'servers: [{ name: broken }]\n');
  else {
    layout.hasExtra = random() < 0.5;
    if (random() < 0.5) layout.version += 1;
    writeConfig();
  }
  gateway.kill('SIGHUP');
  // The file must not change again while it is read.
  await wait(300);
}

async function readLists() {
  for (const path of ['/mcp/tools', '/openapi.json', '/metrics']) {
    if (path !== '/metrics') await gateway.send('GET', path);
  }
}

function writeConfig() {
  const child = (name, more = {}) => ({ name, command: process.execPath, args: [CHILD, MARK, receivedFile], ...more });
  const quoted = [process.execPath, CHILD, MARK, receivedFile].map((part) => `'${part}'`).join(' ');
  const servers = [
    child('plain'),
    { name: 'wrapped', command: 'sh', args: ['-c', `${quoted}; true`] },
    child('narrow', { max_concurrency: 2 }),
    child('changing', { envs: { VERSION: layout.version } }),
    ...(layout.hasExtra ? [child('extra')] : []),
    { name: 'remote', url: remote.url },
  ].map((server) => ({ timeout: TIMEOUT_MS, max_response_bytes: MAX_RESPONSE_BYTES, ...server }));
  // JSON is YAML. A rename is atomic.
  writeFileSync(`${config}.new`, JSON.stringify({ http: { max_calls_per_token: 1000 }, servers }));
  renameSync(`${config}.new`, config);
}

async function serverStates() {
  return (await gateway.send('GET', '/mcp/servers')).body.servers;
}

async function restart(name) {
  await gateway.send('POST', `/mcp/servers/${name}/restart`, {});
}

/** Brings every server back, so that the numbers of two rests can be compared. */
async function untilAvailable() {
  layout.hasExtra = true;
  writeConfig();
  gateway.kill('SIGHUP');
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    await wait(200);
    const servers = await serverStates();
    for (const { name, state } of servers) if (state === 'failed' || state === 'unavailable') await restart(name);
    if (servers.length === SERVERS.length && servers.every(({ state }) => state === 'available') && inFlight.size === 0)
      return;
    if (performance.now() > until) {
      const states = servers.map(({ name, state, lastError }) => `${name} ${state} ${lastError ?? ''}`).join(', ');
      problems.push(`the servers are not available again, or ${inFlight.size} calls have not ended: ${states}`);
      return;
    }
  }
}

/** At rest, a server that is available must answer: its connection may have been lost without being noticed. */
async function checkAvailable(server) {
  calls += 1;
  const call = calls;
  const send = () => gateway.send('POST', '/mcp/call', { server, toolName: 'echo', input: { call } });
  try {
    check(call, server, await send(), ['answered'], []);
  } catch (error) {
    problems.push(`call ${call} (${server}) was lost: ${error.message}`);
  }
}

/** SIGTERM while calls run: they must be answered, the program must exit with 0, and no process may remain. */
async function stopUnderLoad() {
  const slow = Array.from({ length: 10 }, (_, index) =>
    gateway.send('POST', '/mcp/call', {
      server: pick(['plain', 'wrapped', 'remote']),
      toolName: 'sleep',
      input: { call: -1 - index, ms: 1000 },
    }),
  );
  await wait(300);
  isStopping = true;
  gateway.kill('SIGTERM');
  for (const [index, result] of (await Promise.allSettled(slow)).entries()) {
    const { status, reason, value } = result;
    const isAnswered = status === 'fulfilled' && value.body.result === `slept ${-1 - index}`;
    if (!isAnswered) problems.push(`a call was lost by SIGTERM: ${reason?.message ?? JSON.stringify(value.body)}`);
  }
  gateway.closeConnections();
  const late = wait(SETTLE_MS, 'late', { ref: false });
  const exited = await Promise.race([gateway.exited, late]);
  if (exited === 'late' || exited.code !== 0)
    problems.push(`the program did not exit with 0: ${JSON.stringify(exited)}`);
  remote.close();
  const remaining = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(MARK));
  if (remaining.length > 0) problems.push(`processes remain: ${remaining.join('; ')}`);
}

function report({ heap, rss, handles }) {
  const { accessLines, reloads, refusedReloads, restarts } = gateway.account;
  console.log(
    [
      `${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s`,
      `calls ${calls}`,
      ...Object.entries(outcomes).map(([outcome, count]) => `${outcome} ${count}`),
      `disconnected ${disconnected}`,
      `kills ${kills}`,
      `restarts ${restarts}`,
      `SIGHUP ${hangups} (${reloads} read, ${refusedReloads} refused)`,
      `access lines ${accessLines}`,
      `heap ${(heap / 1e6).toFixed(1)} MB`,
      `RSS ${(rss / 1e6).toFixed(0)} MB`,
      `handles ${handles}`,
    ].join('  '),
  );
}

function finish() {
  problems.push(
    ...growth('heap', 1e6, 'MB', HEAP_GROWTH_MB),
    ...growth('rss', 1e6, 'MB', RSS_GROWTH_MB),
    ...growth('handles', 1, '', HANDLES_GROWTH),
    ...sentTwice(),
  );
  rmSync(home, { recursive: true, force: true });
  const answered = Object.values(outcomes).reduce((a, b) => a + b, 0);
  console.log(
    `Total: ${calls} calls, ${answered} responses, ${disconnected} disconnected, ${calls - answered - disconnected} lost`,
  );
  if (problems.length > 0) {
    console.error(`FAILED:\n  ${problems.slice(0, 10).join('\n  ')}`);
    process.exit(1);
  }
  console.log('OK: every call was answered once, or its caller left; no process remains; nothing grew.');
  process.exit(0);
}

function growth(what, unit, unitName, allowed) {
  const compared = beforeAndAfter(samples.map((sample) => sample[what] / unit));
  if (compared === undefined) return [];
  const [before, after] = compared;
  console.log(`${what}: ${before.toFixed(1)} ${unitName}, then ${after.toFixed(1)} ${unitName}`);
  return after - before > allowed ? [`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)} ${unitName}`] : [];
}

/** A call may have effects, so that no server may receive it twice. */
function sentTwice() {
  const received = [...readFileSync(receivedFile, 'utf8').trim().split('\n').map(Number), ...receivedRemotely];
  const seen = new Set();
  return received.filter((call) => seen.size === seen.add(call).size).map((call) => `call ${call} was sent twice`);
}

function pick(list) {
  return list[Math.floor(random() * list.length)];
}

console.log(`Soak of the gateway: ${minutes} min, ${CALLERS} callers, Node.js ${process.version}`);
await untilAvailable();
while (performance.now() < endsAt && problems.length === 0) await phase();
await stopUnderLoad();
finish();
