// Six servers whose lists are kept: their cost while they are idle, and the time of the first call of one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN, peakMemoryKb } from './lib/clean-process.js';
import { compared, median, medianRatio, printBounded, printCompared } from './lib/figures.js';

const ECHO = fileURLToPath(new URL('./echo-server.js', import.meta.url));
const SERVERS = 6;
const LIST_LIMIT = 1.5;
const MEMORY_LIMIT_MB = 10;
const CALL_LIMIT_MS = 50;

export async function benchIdle(rounds) {
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
  for (const name of names) await converse({ args: kept, env }, `${name}__echo`);
  const sides = [kept, none].map((args) => ({ args, figures: [] }));
  const calls = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const { args, figures } of round % 2 === 0 ? sides : sides.toReversed())
      figures.push(await converse({ args, env }));
    calls.ours.push((await converse({ args: kept, env }, 'echo0__echo')).callMs);
    const { startMs, callMs } = await converse({ script: ECHO, args: [], env }, 'echo');
    calls.bare.push(startMs + callMs);
  }
  rmSync(home, { recursive: true });
  const [ours, bare] = sides.map(({ figures }) => ({
    ms: figures.map(({ startMs }) => startMs),
    mb: figures.map(({ mb }) => mb),
  }));
  const over = calls.ours.map((ms, index) => ms - calls.bare[index]);
  const areTimesKept = printCompared(
    `Idle servers: spawn to the response of tools/list, ${rounds} rounds in alternation, medians`,
    [
      compared(
        `time, ${SERVERS} kept servers, and none`,
        median(ours.ms),
        median(bare.ms),
        'ms',
        LIST_LIMIT,
        medianRatio(ours.ms, bare.ms),
      ),
      compared('first call, and start and call of the server alone', median(calls.ours), median(calls.bare), 'ms'),
    ],
  );
  const areBoundsKept = printBounded('Idle servers: what they cost', [
    {
      what: 'peak memory, above that without servers',
      value: median(ours.mb) - median(bare.mb),
      unit: 'MB',
      limit: MEMORY_LIMIT_MB,
    },
    { what: 'first call, above the start of the server', value: median(over), unit: 'ms', limit: CALL_LIMIT_MS },
  ]);
  return areTimesKept && areBoundsKept;
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
