import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { checkHeaders } from '../../../../../src/adapters/inbound/http/mcp/protocol-headers.ts';
import { Tasks } from '../../../../../src/adapters/inbound/mcp/tasks.ts';
import type { Application } from '../../../../../src/application/answers/application.ts';
import type { TaskStatus } from '../../../../../src/application/answers/long-answers.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { LOCAL } from '../../../../support/origins.ts';
import { redactorOf } from '../../../../support/redactor.ts';

const CREATED = new Date('2026-01-05T02:59:50Z');
const DECLARED = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};
const user = LOCAL;
const at = { createdAt: CREATED, updatedAt: new Date('2026-01-05T03:00:00Z') };

/** The extension on a task with this status, after so many seconds. */
function tasksWith(status: TaskStatus, { seconds = 0, returned = [] as boolean[] } = {}) {
  const taskStatus = async (_taskId: string, _by: unknown, isReturned: boolean) => {
    returned.push(isReturned);
    return status;
  };
  const application = {
    tasks: { taskStatus, cancelTask: () => status.state !== 'unknown' },
  } as unknown as Application;
  return new Tasks({
    load: async () => application,
    clock: new FakeClock(new Date(Date.parse('2026-01-05T03:00:00Z') + seconds * 1000).toISOString()),
    longAnswers: { tools: ['answer_detailed'], maxMs: 1000, keepMs: 500, taskAfterMs: 1, orphanMs: 0 },
    serverInfo: { name: 'test', version: '1' },
    toolErrors: 'protocol',
    logger: { isDebug: false },
    redactor: redactorOf(),
  });
}

const get = (tasks: Tasks, params: object = {}) =>
  tasks.respond('tasks/get', { taskId: 'la1.d.resp_1.x', _meta: DECLARED, ...params }, user);

describe('tasks/get', () => {
  test('says what a search does', async () => {
    const status: TaskStatus = { state: 'working', latest: { kind: 'searching' }, language: 'ja', ...at };
    expect(await get(tasksWith(status))).toEqual({
      result: {
        taskId: 'la1.d.resp_1.x',
        status: 'working',
        statusMessage: '検索しています',
        createdAt: '2026-01-05T02:59:50.000Z',
        lastUpdatedAt: '2026-01-05T03:00:00.000Z',
        ttlMs: 1500,
        pollIntervalMs: 5000,
      },
    });
    expect(await get(tasksWith(status, { seconds: 50 }))).toMatchObject({ result: { pollIntervalMs: 15_000 } });
  });

  test('masks a key before it is clipped', async () => {
    const key = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
    for (let length = 150; length < 200; length += 1) {
      const latest = { kind: 'searching', query: `${'x'.repeat(length)} ${key}` } as const;
      const reply = await get(tasksWith({ state: 'working', latest, language: 'en', ...at }));
      expect(JSON.stringify(reply)).not.toContain('sk-proj-abc');
      expect((reply as { result: { statusMessage: string } }).result.statusMessage.length).toBeLessThanOrEqual(200);
    }
  });

  test('has the result of the call', async () => {
    const result = { answer: 'A lot.', used_search: false, citations: [], model: 'gpt-5.2' };
    const report = { queries: [], searches: 0, attempts: 1, seconds: 2 };
    const reply = await get(tasksWith({ state: 'ended', answer: ok({ result, report }), ...at }));
    expect(reply).toMatchObject({
      result: { status: 'completed', result: { resultType: 'complete', structuredContent: result } },
    });
  });

  test('has a failure as the result of the call', async () => {
    const reply = await get(tasksWith({ state: 'ended', answer: err({ kind: 'content_filtered' }), ...at }));
    const content = [{ type: 'text', text: expect.stringMatching(/^answer failed: /) }];
    expect(reply).toMatchObject({ result: { status: 'completed', result: { isError: true, content } } });
  });

  test.each<[string, TaskStatus, number, RegExp]>([
    ['an unknown task', { state: 'unknown' }, -32602, /^Task not found/],
    [
      'a task that cannot be looked at',
      { state: 'not_looked', error: { kind: 'rate_limited', attempts: 1, detail: 'slow down' } },
      -32603,
      /slow down/,
    ],
  ])('is an error for %s', async (_, status, code, message) => {
    expect(await get(tasksWith(status))).toEqual({ error: { code, message: expect.stringMatching(message) } });
  });
});

test.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '%s first requires that tasks are declared',
  async (method) => {
    const reply = await tasksWith({ state: 'unknown' }).respond(method, {}, user);
    const requiredCapabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    expect(reply).toMatchObject({ error: { code: -32021, data: { requiredCapabilities } } });
  },
);

test('a task has an ID', async () => {
  for (const taskId of [undefined, 7])
    expect(await get(tasksWith({ state: 'unknown' }), { taskId })).toMatchObject({ error: { code: -32602 } });
});

test.each(['tasks/update', 'tasks/cancel'])('%s of a known task is an empty result', async (method) => {
  const tasks = tasksWith({ state: 'cancelled', ...at });
  expect(await tasks.respond(method, { taskId: 'la1.d.resp_1.x', _meta: DECLARED }, user)).toEqual({ result: {} });
});

test('only tasks/get returns an answer', async () => {
  const returned: boolean[] = [];
  const result = { answer: 'A lot.', used_search: false, citations: [], model: 'gpt-5.2' };
  const report = { queries: [], searches: 0, attempts: 1, seconds: 2, handle: 'la1.d.resp_1.x' };
  const tasks = tasksWith({ state: 'ended', answer: ok({ result, report }), ...at }, { returned });
  await tasks.respond('tasks/update', { taskId: 'la1.d.resp_1.x', _meta: DECLARED }, user);
  await tasks.toTask({ result, report: { ...report, state: 'unfinished' } }, user);
  await get(tasks);
  expect(returned).toEqual([false, false, true]);
});

test('the first look at a task follows soon, however late the call became one', async () => {
  const status: TaskStatus = { state: 'working', latest: undefined, language: 'en', ...at };
  const result = { answer: 'This is not finished.', used_search: false, citations: [], model: 'gpt-5.2' };
  const report = { queries: [], searches: 0, attempts: 1, seconds: 2, state: 'unfinished', handle: 'la1' } as const;
  expect(await tasksWith(status, { seconds: 90 }).toTask({ result, report }, user)).toMatchObject({
    resultType: 'task',
    pollIntervalMs: 5000,
  });
});

test.each(['tasks/result', 'tasks/list', 'tools/list'])('%s is not a method of the extension', async (method) => {
  expect(await tasksWith({ state: 'unknown' }).respond(method, { _meta: DECLARED }, user)).toBeUndefined();
});

test('over HTTP, Mcp-Name must be the ID of the task', () => {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...DECLARED };
  const message = { kind: 'request', id: 1, method: 'tasks/get', params: { taskId: 'la1', _meta: meta } } as const;
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tasks/get' };
  const tasks = tasksWith({ state: 'unknown' });
  const codeOf = (name?: string) =>
    checkHeaders({ ...headers, ...(name && { 'mcp-name': name }) }, message, 'modern', tasks)?.code;
  expect([codeOf(), codeOf('la2'), codeOf('la1')]).toEqual([-32020, -32020, undefined]);
  // Without the extension, its methods are not known.
  expect(checkHeaders(headers, message, 'modern')).toBeUndefined();
});
