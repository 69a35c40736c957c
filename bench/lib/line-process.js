// A child process that reads and writes lines of JSON.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'openai-responses-mcp-bench-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** Starts a script of Node in a clean environment. */
export function startLineProcess(script, args = [], env = {}, nodeArgs = []) {
  const child = spawn(process.execPath, [...nodeArgs, script, ...args], {
    env: { PATH: process.env.PATH, HOME: home, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map();
  const exited = new Promise((resolve) => child.once('close', resolve));
  let unread = [];
  child.stdout.on('data', (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...unread, rest.subarray(0, end)]).toString();
      unread = [];
      rest = rest.subarray(end + 1);
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
    unread.push(rest);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    child,
    send,
    /** Sends a message and waits for the line with the same id. */
    ask: (message) =>
      new Promise((resolve) => {
        waiting.set(message.id, resolve);
        send(message);
      }),
    close: () => {
      child.stdin.end();
      return exited;
    },
    kill: () => {
      child.kill('SIGKILL');
      return exited;
    },
  };
}

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
