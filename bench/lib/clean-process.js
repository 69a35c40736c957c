// The memory of a process, and the clean environment of the processes that benches start.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

export const CLEAN = { PATH: process.env.PATH, HOME: home };

/** The peak memory of a running process in kB, or its current memory (from ps) where /proc does not exist. */
export async function peakMemoryKb(pid) {
  try {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]);
  } catch {
    const ps = spawn('ps', ['-o', 'rss=', '-p', String(pid)], { stdio: ['ignore', 'pipe', 'inherit'] });
    return Number((await ps.stdout.toArray()).join('').trim());
  }
}
