import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { neverAnswers } from '../support/behaviours.ts';
import { type CleanProcessOptions, startCleanProcess } from '../support/clean-process.ts';
import { legacy } from '../support/http-client.ts';
import { McpOutputReader } from '../support/mcp-output.ts';
import { posixTest } from '../support/platform.ts';
import { isRunning } from '../support/process-tree.ts';

/** 16 MB of answers, far more than any pipe can buffer. */
const MANY = 2000;
const ASK_MUCH = Array.from({ length: MANY }, (_, id) => `${JSON.stringify(legacy('tools/list', {}, id))}\n`).join('');

test('a client that reads late receives all responses, also after the end of its input', async () => {
  const { child, exited } = start(['--stdio']);
  child.stdin.end(ASK_MUCH);
  await wait(700);
  expect(isRunning(child.pid)).toBe(true);
  const ids: unknown[] = [];
  const reader = new McpOutputReader({ message: ({ id }) => ids.push(id), junk: (text) => ids.push(text) });
  child.stdout.on('data', (bytes: Buffer) => reader.push(bytes));
  expect(await exited).toEqual({ code: 0, signal: null });
  expect(ids).toEqual(Array.from({ length: MANY }, (_, id) => id));
});

const ENDS_OF_NON_READERS = [
  ['by SIGTERM', (child) => child.kill('SIGTERM')],
  ['by SIGTERM after the end of its input', (child) => [child.stdin.end(), child.kill('SIGTERM')]],
  ['when the client closes its end', (child) => child.stdout.destroy()],
  ['when the client closes its end after the end of its input', (child) => [child.stdin.end(), child.stdout.destroy()]],
] as const satisfies readonly (readonly [string, (child: ReturnType<typeof start>['child']) => unknown])[];

posixTest('signals').for(ENDS_OF_NON_READERS)(
  'a client that never reads does not keep the process alive: it ends %s',
  async ([, end]) => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { child } = start(['--stdio'], { env: apiEnv(api) });
    const ended = once(child, 'exit');
    child.stdin.write(ASK_MUCH);
    const call = legacy('tools/call', { name: 'answer', arguments: { query: 'q' } }, 'call');
    child.stdin.write(`${JSON.stringify(call)}\n`);
    await api.waitForRequests(1);
    end(child);
    expect(await ended).toEqual([0, null]);
    await api.until(() => api.openConnections() === 0);
  },
);

/** A process whose standard output is not read yet. */
function start(args: readonly string[], options: CleanProcessOptions = {}) {
  const { child, exited, removeHome } = startCleanProcess(args, options);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    await exited;
    removeHome();
  });
  return { child, exited };
}
