// From spawn to the answer of tools/list, and the memory that it took: the built server beside a bare script.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compared, median, printCompared } from './lib/figures.js';
import { peakMemoryKb, startLineProcess } from './lib/line-process.js';

const OURS = fileURLToPath(new URL('../build/index.js', import.meta.url));
const BARE = fileURLToPath(new URL('./bare-server.cjs', import.meta.url));
const TIME_LIMIT = 1.25;
const MEMORY_LIMIT = 1.2;

export async function benchStart(rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
  const bareModule = join(folder, 'bare-server.mjs');
  copyFileSync(BARE, bareModule);
  const sides = [OURS, BARE, bareModule].map((script) => ({ script, figures: [] }));
  // The first of each fills the disk's cache.
  for (const { script } of sides) await converse(script);
  for (let round = 0; round < rounds; round += 1) {
    for (const { script, figures } of round % 2 === 0 ? sides : sides.toReversed()) {
      figures.push(await converse(script));
    }
  }
  rmSync(folder, { recursive: true });
  const [ours, bare, module] = sides.map(({ figures }) => ({
    ms: median(figures.map(({ ms }) => ms)),
    mib: median(figures.map(({ kb }) => kb)) / 1024,
  }));
  return printCompared(`Start: spawn to the answer of tools/list, ${rounds} rounds in turn, medians`, [
    compared('time', ours.ms, module.ms, 'ms', TIME_LIMIT),
    // Node starts CommonJS sooner; this package's own scripts are ES modules.
    compared('time, bare as CommonJS', ours.ms, bare.ms, 'ms'),
    compared('peak memory', ours.mib, bare.mib, 'MiB', MEMORY_LIMIT),
  ]);
}

async function converse(script) {
  const startedAt = performance.now();
  const server = startLineProcess(script, ['--stdio']);
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } };
  await server.ask({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  server.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await server.ask({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  const ms = performance.now() - startedAt;
  const kb = await peakMemoryKb(server.child.pid);
  await server.close();
  return { ms, kb };
}
