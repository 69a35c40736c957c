// From spawn to the response of tools/list, and the peak memory: the built server next to a bare script.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN, peakMemoryKb } from './lib/clean-process.js';
import { compared, median, medianRatio, printCompared } from './lib/figures.js';

const OURS = fileURLToPath(new URL('../build/index.js', import.meta.url));
const BARE = fileURLToPath(new URL('./bare-server.cjs', import.meta.url));
/** Maximum time, as a multiple of the faster bare script's. */
const TIME_LIMIT = 1.4;
const MEMORY_LIMIT = 1.2;

export async function benchStart(rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
  const moduleScript = join(folder, 'bare-server.mjs');
  copyFileSync(BARE, moduleScript);
  const sides = [OURS, BARE, moduleScript].map((script) => ({ script, figures: [] }));
  // The first run of each script fills the file cache.
  for (const { script } of sides) await converse(script);
  for (let round = 0; round < rounds; round += 1) {
    for (const { script, figures } of round % 2 === 0 ? sides : sides.toReversed()) {
      figures.push(await converse(script));
    }
  }
  rmSync(folder, { recursive: true });
  const [ours, bare, bareModule] = sides.map(({ figures }) => ({
    ms: figures.map(({ ms }) => ms),
    mib: figures.map(({ kb }) => kb / 1024),
  }));
  const time = (what, { ms }, limit) =>
    compared(what, median(ours.ms), median(ms), 'ms', limit, medianRatio(ours.ms, ms));
  const isModuleFaster = median(bareModule.ms) < median(bare.ms);
  return printCompared(`Start: spawn to the response of tools/list, ${rounds} rounds in alternation, medians`, [
    time('time, bare script as CommonJS', bare, isModuleFaster ? undefined : TIME_LIMIT),
    time('time, bare script as an ES module', bareModule, isModuleFaster ? TIME_LIMIT : undefined),
    compared('peak memory', median(ours.mib), median(bare.mib), 'MiB', MEMORY_LIMIT),
  ]);
}

async function converse(script) {
  const startedAt = performance.now();
  const server = startServer({ script, env: CLEAN });
  await server.initialize();
  await server.request('tools/list');
  const ms = performance.now() - startedAt;
  const kb = await peakMemoryKb(server.child.pid);
  await server.close();
  return { ms, kb };
}
