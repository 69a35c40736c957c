// Six servers whose lists are kept: their cost while they are idle, and the time of the first call of one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN, peakMemoryKb } from './lib/clean-process.js';
import { bounded, compared, inTurn, median, printRows } from './lib/figures.js';

const ECHO = fileURLToPath(new URL('./echo-server.js', import.meta.url));
const SERVERS = 6;
const LIST_LIMIT = { atMost: 1.5 };
const MEMORY_LIMIT_MB = 10;
const CALL_LIMIT_MS = 50;

export async function benchIdle({ programs, rounds }) {
  const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-idle-'));
  const names = Array.from({ length: SERVERS }, (_, index) => `echo${index}`);
  const servers = names.map((name) => ({ name, command: process.execPath, args: [ECHO] }));
  const [kept, none] = [servers, []].map((servers, index) => {
    const config = join(home, `${index}.yaml`);
    // JSON is YAML.
    writeFileSync(config, JSON.stringify({ servers }));
    return ['--stdio', '--expose', '--config', config];
  });
  const env = { ...CLEAN, HOME: home, XDG_CACHE_HOME: home, OPENAI_API_KEY: 'sk-bench-0123456789abcdef' };
  const withServers = programs.map((script) => ({ script, args: kept, env }));
  const withoutServers = programs.map((script) => ({ script, args: none, env }));
  const direct = { script: ECHO, args: [], env };
  for (const side of withServers) {
    for (const name of names) await converse(side, `${name}__echo`);
  }
  const sessions = await inTurn([...withServers, ...withoutServers], rounds, (side) => converse(side));
  const [bareCalls, ...calls] = await inTurn([direct, ...withServers], rounds, async (side) => {
    const { startMs, callMs } = await converse(side, side === direct ? 'echo' : 'echo0__echo');
    return side === direct ? startMs + callMs : callMs;
  });
  rmSync(home, { recursive: true });

  const of = (sides, name) => sides.map((figures) => figures.map((figure) => figure[name]));
  const [busy, empty] = [sessions.slice(0, programs.length), sessions.slice(programs.length)];
  const memory = (sides) => of(sides, 'mb').map(median);
  return printRows(`Idle servers: spawn to the response of tools/list, ${rounds} rounds`, [
    compared({
      what: `time, ${SERVERS} kept servers, and none`,
      builds: of(busy, 'startMs'),
      bares: of(empty, 'startMs'),
      unit: 'ms',
      limit: LIST_LIMIT,
    }),
    bounded({
      what: 'peak memory, above that without servers',
      builds: memory(busy).map((mb, index) => mb - memory(empty)[index]),
      unit: 'MB',
      atMost: MEMORY_LIMIT_MB,
    }),
    compared({
      what: 'first call, and start and call of the server alone',
      builds: calls,
      bares: [bareCalls],
      unit: 'ms',
    }),
    bounded({
      what: 'first call, above the start of the server',
      builds: calls.map((figures) => median(figures.map((ms, round) => ms - bareCalls[round]))),
      unit: 'ms',
      atMost: CALL_LIMIT_MS,
    }),
  ]);
}

/** The times and the memory of a session, with a call of `tool` if it is given. */
async function converse(options, tool) {
  const startedAt = performance.now();
  const server = startServer(options);
  await server.initialize();
  await server.request('tools/list');
  const listedAt = performance.now();
  const mb = (await peakMemoryKb(server.child.pid)) / 1024;
  const calledAt = performance.now();
  if (tool !== undefined) await server.callTool(tool, { text: 'a' });
  const callMs = performance.now() - calledAt;
  await server.close();
  return { startMs: listedAt - startedAt, callMs, mb };
}
