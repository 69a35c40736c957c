import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { configure } from '../e2e/gateway/servers.ts';
import { launchHttpProcess } from '../support/http-process.ts';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 5);
/** How many calls are made at a time. */
const CALLERS = 8;

test(
  `no answered call is missing in the audit of a process that is killed at any moment (${ROUNDS} rounds)`,
  async () => {
    const yaml = { audit: { file: 'audit.jsonl', arguments: 'full' } };
    const { config } = configure(['one'], { yaml });
    let answered = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { started, end } = launchHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
      const { url } = await started;
      const ids: string[] = [];
      const callUntilKilled = async (caller: number) => {
        // Some lines take more than one page.
        const input = { message: 'x'.repeat(caller * 1000) };
        const headers = { 'Content-Type': 'application/json' };
        const ask = { method: 'POST', headers, body: JSON.stringify({ server: 'one', toolName: 'echo', input }) };
        for (;;) {
          const reply = await fetch(new URL('/mcp/call', url), ask);
          if (reply.status === 200) ids.push(reply.headers.get('x-request-id') ?? '');
        }
      };
      const calls = Array.from({ length: CALLERS }, (_, caller) => callUntilKilled(caller).catch(() => {}));
      await expect.poll(() => ids.length, { timeout: 10_000 }).toBeGreaterThan(0);
      await sleep(Math.random() * 50);
      await end();
      await Promise.all(calls);
      const text = readFileSync(join(dirname(config), 'audit.jsonl'), 'utf8');
      // Only the last line of a round may be incomplete.
      const lines = text.split('\n').flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as object] : []));
      const recorded = new Set(lines.map((line) => (line as { request_id?: string }).request_id));
      expect(ids.filter((id) => !recorded.has(id))).toEqual([]);
      expect(text.split('\n').length - lines.length).toBeLessThanOrEqual(round + 2);
      answered += ids.length;
    }
    expect(answered).toBeGreaterThan(ROUNDS);
  },
  ROUNDS * 10_000,
);
