// From spawn to the response of tools/list, and the peak memory: the built server next to a bare script.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../scripts/lib/stdio-client.js';
import { CLEAN, peakMemoryKb } from './lib/clean-process.js';
import { compared, inTurn, median, printRows } from './lib/figures.js';

const BARE = fileURLToPath(new URL('./bare-server.cjs', import.meta.url));
/** Limit of the time, as a multiple of the faster bare script's. */
const TIME_LIMIT = { atMost: 1.4 };
const MEMORY_LIMIT = { atMost: 1.2 };

export async function benchStart({ programs, rounds }) {
  const folder = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
  const moduleScript = join(folder, 'bare-server.mjs');
  copyFileSync(BARE, moduleScript);
  const scripts = [BARE, moduleScript, ...programs];
  // The first run of each script fills the file cache.
  for (const script of scripts) await converse(script);
  const figures = await inTurn(scripts, rounds, converse);
  rmSync(folder, { recursive: true });

  const [bare, bareModule, ...builds] = figures.map((runs) => runs.map(({ ms }) => ms));
  const [bareMemory, , ...memory] = figures.map((runs) => runs.map(({ mib }) => mib));
  const isModuleFaster = median(bareModule) < median(bare);
  const time = (what, bare, limit) => compared({ what, builds, bares: [bare], unit: 'ms', limit });
  return printRows(`Start: spawn to the response of tools/list, ${rounds} rounds`, [
    time('time, bare script as CommonJS', bare, isModuleFaster ? undefined : TIME_LIMIT),
    time('time, bare script as an ES module', bareModule, isModuleFaster ? TIME_LIMIT : undefined),
    compared({ what: 'peak memory', builds: memory, bares: [bareMemory], unit: 'MiB', limit: MEMORY_LIMIT }),
  ]);
}

async function converse(script) {
  const startedAt = performance.now();
  const server = startServer({ script, env: CLEAN });
  await server.initialize();
  await server.request('tools/list');
  const ms = performance.now() - startedAt;
  const mib = (await peakMemoryKb(server.child.pid)) / 1024;
  await server.close();
  return { ms, mib };
}
