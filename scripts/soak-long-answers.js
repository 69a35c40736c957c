// Asks for answers that take longer than a call waits, over HTTP and stdio. A third of the calls disconnect, and the others get a handle. Then kills
// processes behind a load balancer. Prints numbers, and fails if an answer is lost or asked for twice, or if memory grows.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { loadBundle } from './lib/load-source.js';
import { startGatewayProcess } from './lib/soak-gateway-process.js';
import { beforeAndAfter, minutes, seeded } from './lib/soak-options.js';
import { answerOf, startServer } from './lib/stdio-client.js';

const { startFakeApi, startProxy, works, answers } = await loadBundle(`
  export { startFakeApi } from './test/support/fake-api.ts';
  export { startProxy } from './test/support/round-robin-proxy.ts';
  export { answers, works } from './test/support/behaviours.ts';
`);

const CALLERS = { http: 24, stdio: 8 };
const ROUNDS = 20;
const REPORT_EVERY_MS = 10_000;
/** How long a call waits, and at most how long a response works. */
const TIMEOUT_MS = 1000;
const WORK_MS = 3000;
/** A question without an answer after this time is lost. */
const LOST_AFTER_MS = 30_000;
const HEAP_GROWTH_MB = 3;
const RSS_GROWTH_MB = 40;
const HANDLE = /la1\.d\.resp_\w+\.[\w-]{22}/;

const random = seeded(Number(process.env.SOAK_SEED ?? 1));
const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-soak-'));
const config = join(home, 'config.yaml');
// JSON is YAML. There is a place for each search, so that none waits longer than its call.
writeFileSync(
  config,
  JSON.stringify({
    long_answers: { tools: ['answer_detailed'] },
    request: { timeout_ms: TIMEOUT_MS, max_concurrency: 3 * CALLERS.http },
    http: { max_calls_per_token: 1000 },
  }),
);
const api = await startFakeApi();
const env = { LLM_ADAPTER: 'openai', OPENAI_API_KEY: 'sk-soak-0123456789abcdefghij', OPENAI_BASE_URL: api.url };
/** Requests by their question. */
const posts = new Map();
/** Decides when a response ends. */
let onWorking = (release) => setTimeout(release, random() * WORK_MS);
api.replyWith(({ body }) => {
  const number = /question (\d+)/.exec(JSON.stringify(body.input))?.[1];
  posts.set(number, (posts.get(number) ?? 0) + 1);
  const working = works(answers(`answer ${number}.`));
  onWorking(() => working.release());
  return working;
});

const problems = [];
const samples = [];
const counts = { answers: 0, calls: 0, disconnected: 0, unfinished: 0, again: 0, handles: 0, kills: 0 };
let asked = 0;
const program = await startGatewayProcess(config, { env, onProblem: (line) => problems.push(line) });
const client = startServer({ args: ['--config', config], env: { PATH: process.env.PATH, HOME: home, ...env } });
process.on('exit', () => {
  program.kill('SIGKILL');
  client.child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});
let isStopping = false;
for (const { exited } of [program, client])
  void exited.then((exit) => isStopping || problems.push(`a process ended: ${JSON.stringify(exit)}`));

/** A call over HTTP. Resolves with the text of its answer, or rejects when `signal` aborts. */
async function callHttp(query, signal, port = program.port) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const params = { name: 'answer_detailed', arguments: { query } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body, signal });
  return answerOf(await response.json()).answer;
}

/** The same over stdio, where a call is cancelled with a time-out as its reason. */
async function callStdio(query, signal) {
  const response = client.callTool('answer_detailed', { query });
  const left = new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      client.notify('notifications/cancelled', { requestId: response.id, reason: 'Request timed out' });
      reject(signal.reason);
    });
  });
  return answerOf(await Promise.race([response, left])).answer;
}

/** Asks a new question until it is answered: again with the same words, or with the handle. */
async function askOnce(call) {
  asked += 1;
  const number = asked;
  const question = `question ${number}`;
  const began = performance.now();
  let query = question;
  while (performance.now() - began < LOST_AFTER_MS) {
    const isLeaving = random() < 1 / 3;
    const leaving = new AbortController();
    const timer = setTimeout(() => leaving.abort(), isLeaving ? 100 + random() * (TIMEOUT_MS - 200) : LOST_AFTER_MS);
    counts.calls += 1;
    try {
      const answer = await call(query, leaving.signal);
      const [handle] = HANDLE.exec(answer) ?? [];
      if (handle === undefined) {
        if (answer !== `answer ${number}.`) problems.push(`${question} got ${answer.slice(0, 200)}`);
        counts.answers += 1;
        return;
      }
      counts.unfinished += 1;
      query = random() < 0.5 ? question : handle;
      counts[query === handle ? 'handles' : 'again'] += 1;
    } catch (error) {
      if (!leaving.signal.aborted) problems.push(`${query}: ${error.message}`);
      counts.disconnected += 1;
    } finally {
      clearTimeout(timer);
    }
    await wait(random() * 50);
  }
  problems.push(`${question} was lost`);
}

/** Two processes behind a load balancer: a call gets a handle from one, which is killed, and the other answers it. */
async function killOne() {
  asked += 1;
  const number = asked;
  const processes = await Promise.all([0, 1].map(() => startGatewayProcess(config, { env })));
  const proxy = await startProxy(processes.map(({ port }) => `http://127.0.0.1:${port}/mcp`));
  const { port } = new URL(proxy.url);
  const call = (query) => callHttp(query, AbortSignal.timeout(LOST_AFTER_MS), port);
  const working = new Promise((resolve) => {
    onWorking = resolve;
  });
  try {
    const [handle] = HANDLE.exec(await call(`question ${number}`));
    const [first] = proxy.answeredBy;
    processes[first].kill('SIGKILL');
    await processes[first].exited;
    counts.kills += 1;
    (await working)();
    const answer = await call(handle);
    const isOther = proxy.answeredBy[1] === 1 - first;
    if (answer !== `answer ${number}.` || !isOther) problems.push(`question ${number} got ${answer} after a kill`);
    counts.answers += 1;
  } catch (error) {
    problems.push(`question ${number} was lost with its process: ${error.message}`);
  }
  for (const each of processes) each.kill('SIGKILL');
  await Promise.all(processes.map(({ exited }) => exited));
  proxy.close();
}

async function sample() {
  await wait(Math.min(REPORT_EVERY_MS, Math.max(0, endsAt - performance.now())));
  const measured = await program.measure();
  samples.push(measured);
  const { heap, rss, handles } = measured;
  const memory = `heap ${(heap / 1e6).toFixed(1)} MB  RSS ${(rss / 1e6).toFixed(0)} MB  resources ${handles}`;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  console.log(`${seconds} s  questions ${asked}  requests ${total()}  ${describe(counts)}  ${memory}`);
}

function describe(of) {
  return Object.entries(of)
    .map(([name, count]) => `${name} ${count}`)
    .join('  ');
}

function total() {
  return [...posts.values()].reduce((sum, count) => sum + count, 0);
}

function growth(what, allowed) {
  const compared = beforeAndAfter(samples.map((each) => each[what] / 1e6));
  if (compared === undefined) return [];
  const [before, after] = compared;
  console.log(`${what}: ${before.toFixed(1)} MB, then ${after.toFixed(1)} MB`);
  return after - before > allowed ? [`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)} MB`] : [];
}

console.log(`Soak of long answers: ${minutes} min, ${describe(CALLERS)} callers, Node.js ${process.version}`);
await client.initialize();
const startedAt = performance.now();
const endsAt = startedAt + minutes * 60_000;
const untilOver = async (act) => {
  while (performance.now() < endsAt && problems.length === 0) await act();
};
await Promise.all([
  ...Array.from({ length: CALLERS.http }, () => untilOver(() => askOnce(callHttp))),
  ...Array.from({ length: CALLERS.stdio }, () => untilOver(() => askOnce(callStdio))),
  untilOver(sample),
]);
isStopping = true;
program.kill('SIGTERM');
for (const { code } of [await program.exited, await client.close()])
  if (code !== 0) problems.push(`a process ended with ${code}`);
for (let round = 0; round < ROUNDS && problems.length === 0; round += 1) await killOne();
await api.close();

for (const [number, count] of posts) if (count !== 1) problems.push(`question ${number} was sent ${count} times`);
if (posts.size !== asked || total() !== asked) problems.push(`${asked} questions were ${total()} requests`);
if (counts.answers !== asked) problems.push(`${asked} questions had ${counts.answers} answers`);
problems.push(...growth('heap', HEAP_GROWTH_MB), ...growth('rss', RSS_GROWTH_MB));
console.log(`Total: questions ${asked}  requests ${total()}  ${describe(counts)}`);
if (problems.length > 0) {
  console.error(`FAILED:\n  ${problems.slice(0, 10).join('\n  ')}`);
  process.exit(1);
}
console.log('OK: every question was asked once and answered, and nothing grew.');
process.exit(0);
