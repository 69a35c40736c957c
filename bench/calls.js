// Calls against a local fake API: the built server next to the bare `openai` package that makes the same streamed requests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN } from './lib/clean-process.js';
import { compared, inTurn, median, printRows } from './lib/figures.js';
import { nextId, requestRate } from './lib/load.js';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const REPLY = path('../recordings/answer-tokyo-weather-en.sse');
const CALLS = 200;
const AT_ONCE = 600;
/** Limit of the time of a single call, as a multiple of the bare package's. */
const TIME_LIMIT = { atMost: 0.8 };
/** Limit of the rate of concurrent calls, as a multiple of the bare package's. */
const RATE_LIMIT = { atLeast: 1.2 };

/** Runs of 200 calls one after the other, then bursts of 600 at once. Node writes CPU profiles to `profileFolder`, if given. */
export async function benchCalls({ programs, rounds, profileFolder }) {
  const api = spawn(process.execPath, [path('./fake-api.js'), REPLY], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = String((await once(api.stdout, 'data'))[0]).split('\n');
  const env = { ...CLEAN, OPENAI_API_KEY: 'sk-bench-0123456789', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const nodeArgs = profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`] : [];
  const wideEnv = { ...env, OPENAI_MAX_CONCURRENCY: String(AT_ONCE) };
  const servers = programs.map((script) => startServer({ script, env, nodeArgs }));
  const wideServers = programs.map((script) => startServer({ script, env: wideEnv, nodeArgs }));
  const bareServer = startServer({ script: path('./bare-caller.js'), args: [], env, nodeArgs });

  const callTool = (server) => async () => {
    const id = nextId();
    const params = { name: 'answer', arguments: { query: `What is the weather in Tokyo today? (${id})` } };
    const { result } = await server.ask({ jsonrpc: '2.0', id, method: 'tools/call', params });
    if (!JSON.parse(result.content[0].text).used_search) throw new Error('no answer');
  };
  // The bare package sends the same body, except for the number in the question.
  await callTool(servers[0])();
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).json();
  const callBare = async () => {
    const id = nextId();
    const { text } = await bareServer.ask({ id, body: { ...body, input: body.input.replace(/\(\d+\)/, `(${id})`) } });
    if (text === '') throw new Error('no answer');
  };

  const ours = servers.map(callTool);
  const wide = wideServers.map(callTool);
  const burst = (call) => requestRate(call, AT_ONCE, AT_ONCE);
  for (const call of [callBare, ...ours, ...wide]) {
    await burst(call);
    await requestRate(call, CALLS, 1);
  }
  const [bareTimes, ...times] = await inTurn([callBare, ...ours], rounds, (call) => medianTime(call));
  const [bareRates, ...rates] = await inTurn([callBare, ...ours, ...wide], rounds, burst);
  await Promise.all([...servers, ...wideServers, bareServer].map((server) => server.close()));
  api.kill();

  const rate = (what, builds) => compared({ what, builds, bares: [bareRates], unit: '/s', limit: RATE_LIMIT });
  return printRows(`Calls: ${rounds} rounds against a local fake API, next to the bare openai package`, [
    compared({
      what: `time of a call, ${CALLS} one at a time`,
      builds: times,
      bares: [bareTimes],
      unit: 'ms',
      limit: TIME_LIMIT,
    }),
    rate(`rate, ${AT_ONCE} at once`, rates.slice(0, programs.length)),
    rate(`rate, ${AT_ONCE} at once, OPENAI_MAX_CONCURRENCY=${AT_ONCE}`, rates.slice(programs.length)),
  ]);
}

async function medianTime(call) {
  const times = [];
  for (let count = 0; count < CALLS; count += 1) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return median(times);
}
