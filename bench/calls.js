// Calls against a local fake API: the built server beside the bare `openai` package that makes the same streamed requests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compared, median, printCompared } from './lib/figures.js';
import { startLineProcess } from './lib/line-process.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
const LIMIT = 1.15;
const AT_ONCE = 16;
const WARM_UP = 300;
const BLOCK = 50;

/** `profileFolder`: where Node writes a CPU profile of either process, if it is to. */
export async function benchCalls(rounds, profileFolder) {
  const api = spawn(process.execPath, [path('./fake-api.js'), REPLY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = String((await once(api.stdout, 'data'))[0]).split('\n');
  const env = { OPENAI_API_KEY: 'sk-bench-0123456789', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  if (profileFolder) mkdirSync(profileFolder, { recursive: true });
  const profiled = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const server = startLineProcess(path('../build/index.js'), ['--stdio'], env, profiled);
  const bare = startLineProcess(path('./bare-caller.js'), [], env, profiled);

  const callOurs = async (id) => {
    const params = { name: 'answer', arguments: { query: `What is the weather in Tokyo today? (${id})` } };
    const { result } = await server.ask({ jsonrpc: '2.0', id, method: 'tools/call', params });
    if (!JSON.parse(result.content[0].text).used_search) throw new Error('no answer');
  };
  // The same request to the byte, but for its question's number.
  await callOurs(0);
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  const callBare = async (id) => {
    const { text } = await bare.ask({ id, body: { ...body, input: body.input.replace('(0)', `(${id})`) } });
    if (text === '') throw new Error('no answer');
  };

  const sides = [
    { call: callOurs, ms: [], rates: [] },
    { call: callBare, ms: [], rates: [] },
  ];
  for (const { call } of sides) await inParallel(call, WARM_UP, AT_ONCE);
  for (const { call } of sides) await inParallel(call, WARM_UP, 1);
  for (let round = 0; round < rounds; round += 1) {
    for (const { call, ms } of round % 2 === 0 ? sides : sides.toReversed()) {
      for (let count = 0; count < BLOCK; count += 1) ms.push(await timed(() => call(nextId())));
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const { call, rates } of round % 2 === 0 ? sides : sides.toReversed()) {
      const calls = BLOCK * 4;
      rates.push((calls / (await timed(() => inParallel(call, calls, AT_ONCE)))) * 1000);
    }
  }
  await Promise.all([server.close(), bare.close()]);
  api.kill();

  const [ours, theirs] = sides.map(({ ms, rates }) => ({
    ms: median(ms),
    alone: 1000 / mean(ms),
    rate: median(rates),
  }));
  return printCompared(`Calls: ${rounds} rounds in turn, ${BLOCK} calls each, against a local fake API, medians`, [
    compared('time of a call, 1 at a time', ours.ms, theirs.ms, 'ms', LIMIT),
    compared('rate, 1 at a time', ours.alone, theirs.alone, '/s', LIMIT, theirs.alone / ours.alone),
    compared(`rate, ${AT_ONCE} at a time`, ours.rate, theirs.rate, '/s', LIMIT, theirs.rate / ours.rate),
  ]);
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

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
