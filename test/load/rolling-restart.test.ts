import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { describeWithBalancers, startBalancer } from '../support/balancers.ts';
import { answers } from '../support/behaviours.ts';
import { freePort } from '../support/free-port.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';

const TOKEN = 'token-of-clients-0123456789';
const CALLERS = 12;
const headers = { Authorization: `Bearer ${TOKEN}` };

describeWithBalancers((balancer) => {
  test('a rolling restart of three replicas under load loses no call, and makes none twice', async () => {
    const api = await fakeApi();
    const asked: string[] = [];
    api.replyWith(async ({ body }) => {
      const query = String(body.input);
      asked.push(query);
      return answers(`To ${/\d+/.exec(query)?.[0]}.`, { delayMs: asked.length % 300 });
    });
    const env = { ...apiEnv(api), MCP_HTTP_TOKEN: TOKEN };
    const start = (port: number) => startHttpProcess({ args: [`--http=127.0.0.1:${port}`], env });
    const ports = [await freePort(), await freePort(), await freePort()];
    const replicas = await Promise.all(ports.map(start));
    const { url, leaveOut } = await startBalancer(balancer, ports);

    let made = 0;
    let isOver = false;
    const failed: unknown[] = [];
    const callUntilOver = async () => {
      while (!isOver) {
        made += 1;
        const number = made;
        const query = `question ${number}`;
        const isRest = number % 2 === 0;
        const path = isRest ? '/mcp/tools/openai-responses-mcp/answer' : '/mcp';
        const body = isRest ? { query } : legacy('tools/call', { name: 'answer', arguments: { query } }, number);
        const { status, text } = await send(url + path, { body, headers });
        if (status !== 200 || !text.includes(`To ${number}.`)) failed.push([number, status, text]);
      }
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, callUntilOver));
    for (const [index, port] of ports.entries()) {
      // The calls go on for a while with all replicas.
      await sleep(1000);
      leaveOut(port);
      await sleep(500);
      replicas[index]?.kill('SIGTERM');
      expect(await replicas[index]?.exited).toEqual({ code: 0, signal: null });
      replicas[index] = await start(port);
      leaveOut(undefined);
    }
    await sleep(1000);
    isOver = true;
    await callers;
    expect(failed).toEqual([]);
    expect(made).toBeGreaterThan(300);
    expect(asked).toHaveLength(new Set(asked).size);
    expect(asked).toHaveLength(made);
  });
});
