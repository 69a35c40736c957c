// Calls against a local fake API: the built server next to the bare `openai` package that makes the same streamed requests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN } from './lib/clean-process.js';
import { compared, median, medianRatio, printCompared } from './lib/figures.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
const CALLS = 200;
const AT_ONCE = 600;
/** Bursts per run, because they are short. */
const BURSTS = 3;
/** Maximum time of a single call, as a multiple of the bare package's. */
const TIME_LIMIT = 1.15;
/** Minimum rate of concurrent calls, as a fraction of the bare package's. */
const RATE_LIMIT = 0.95;

/** Runs of 200 calls one after the other, then bursts of 600 at once. Node writes CPU profiles to `profileFolder`, if given. */
export async function benchCalls(rounds, profileFolder) {
  const api = spawn(process.execPath, [path('./fake-api.js'), REPLY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = String((await once(api.stdout, 'data'))[0]).split('\n');
  const env = { ...CLEAN, OPENAI_API_KEY: 'sk-bench-0123456789', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  if (profileFolder) mkdirSync(profileFolder, { recursive: true });
  const profiled = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const server = startServer({ env, nodeArgs: profiled });
  const wideEnv = { ...env, OPENAI_MAX_CONCURRENCY: String(AT_ONCE) };
  const wideServer = startServer({ env: wideEnv, nodeArgs: profiled });
  const bare = startServer({ script: path('./bare-caller.js'), args: [], env, nodeArgs: profiled });

  const callTool = (server) => async (id) => {
    const params = { name: 'answer', arguments: { query: `What is the weather in Tokyo today? (${id})` } };
    const { result } = await server.ask({ jsonrpc: '2.0', id, method: 'tools/call', params });
    if (!JSON.parse(result.content[0].text).used_search) throw new Error('no answer');
  };
  // The bare package sends the same body, except for the number in the question.
  await callTool(server)(0);
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  const callBare = async (id) => {
    const { text } = await bare.ask({ id, body: { ...body, input: body.input.replace('(0)', `(${id})`) } });
    if (text === '') throw new Error('no answer');
  };

  const [ours, wide, theirs] = [callTool(server), callTool(wideServer), callBare].map((call) => ({
    call,
    ms: [],
    rates: [],
  }));
  const sides = [ours, wide, theirs];
  for (const { call } of sides) {
    await inParallel(call, AT_ONCE, AT_ONCE);
    await inParallel(call, CALLS, 1);
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { call, ms } of inTurn([ours, theirs], round)) {
      const run = [];
      for (let count = 0; count < CALLS; count += 1) run.push(await timed(() => call(nextId())));
      ms.push(median(run));
    }
  }
  for (let round = 0; round < rounds * BURSTS; round += 1) {
    for (const { call, rates } of inTurn(sides, round)) {
      rates.push((AT_ONCE / (await timed(() => inParallel(call, AT_ONCE, AT_ONCE)))) * 1000);
    }
  }
  await Promise.all([server.close(), wideServer.close(), bare.close()]);
  api.kill();

  const rate = (what, { rates }) =>
    compared(what, median(rates), median(theirs.rates), '/s', 1 / RATE_LIMIT, medianRatio(theirs.rates, rates));
  return printCompared(`Calls: ${rounds} runs in alternation against a local fake API, medians`, [
    compared(
      `time of a call, ${CALLS} one at a time`,
      median(ours.ms),
      median(theirs.ms),
      'ms',
      TIME_LIMIT,
      medianRatio(ours.ms, theirs.ms),
    ),
    rate(`rate, ${AT_ONCE} at once`, ours),
    rate(`rate, ${AT_ONCE} at once, OPENAI_MAX_CONCURRENCY=${AT_ONCE}`, wide),
  ]);
}

function inTurn(sides, round) {
  return round % 2 === 0 ? sides : sides.toReversed();
}

let latestId = 0;

function nextId() {
  latestId += 1;
  return latestId;
}

async function inParallel(call, count, atOnce) {
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call(nextId());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
