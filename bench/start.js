// From spawn to the response of tools/list, and the peak memory: the built server next to a bare script.
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
  const moduleScript = join(folder, 'bare-server.mjs');
  copyFileSync(BARE, moduleScript);
  const sides = [OURS, BARE, moduleScript].map((script) => ({ script, figures: [] }));
  // The first run of each fills the file cache.
  for (const { script } of sides) await converse(script);
  for (let round = 0; round < rounds; round += 1) {
    for (const { script, figures } of round % 2 === 0 ? sides : sides.toReversed()) {
      figures.push(await converse(script));
    }
  }
  rmSync(folder, { recursive: true });
  const [ours, ...bares] = sides.map(({ figures }) => ({
    ms: median(figures.map(({ ms }) => ms)),
    mib: median(figures.map(({ kb }) => kb)) / 1024,
  }));
  const [bare, bareModule] = bares;
  const fastest = Math.min(bare.ms, bareModule.ms);
  return printCompared(`Start: spawn to the response of tools/list, ${rounds} rounds in alternation, medians`, [
    compared('time, faster bare script', ours.ms, fastest, 'ms', TIME_LIMIT),
    compared('time, bare script as CommonJS', ours.ms, bare.ms, 'ms'),
    compared('time, bare script as an ES module', ours.ms, bareModule.ms, 'ms'),
    compared('peak memory', ours.mib, Math.min(bare.mib, bareModule.mib), 'MiB', MEMORY_LIMIT),
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
