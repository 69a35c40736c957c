import { describe, expect, onTestFinished, test } from 'vitest';
import type {
  ServerConnection,
  ServerEvents,
  ToolProgress,
  ToolServer,
} from '../../src/application/ports/tool-server.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { settled } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { errorOf, expectNoListener, never } from './search-kit.ts';

/**
 * How the server of a test begins: `silent` accepts connections, but answers nothing; `absent` cannot be reached; `endless` lists 100 tools
 * on each page, and always one page more.
 */
export type Beginning = 'normal' | 'silent' | 'absent' | 'endless';

/** A ToolServer with the standard tools (see test/support/servers). */
export interface StartedToolServer {
  readonly server: ToolServer;
  /** Ends the server in the way of its kind. */
  lose(connection: ServerConnection): void | Promise<void>;
  /** Resolves when nothing of the server is left; rejects if something stays. */
  untilGone(): void | Promise<void>;
}

/** The limit of the size of a result, for the servers of this suite. */
export const MAX_BYTES = 20_000;

/** What every ToolServer promises (see the port). */
export function describeToolServer(name: string, start: (beginning: Beginning) => Promise<StartedToolServer>): void {
  describe(`${name} as a ToolServer`, () => {
    test('connects, and knows its server', async () => {
      const { connection } = await connected(start);
      expect(connection.serverInfo).toMatchObject({ name: expect.any(String), version: '1.2.3' });
      expect(connection.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
      expect(connection.pid === undefined).toBe(connection.transport !== 'stdio' || name.startsWith('the fake'));
    });

    test('lists the tools of all pages, as the server describes them', async () => {
      const { connection } = await connected(start);
      const tools = await toolsOf(connection);
      expect(tools.map(({ name }) => name)).toEqual(STANDARD_TOOLS);
      const server = tools[0]?.server;
      expect(tools[0]).toEqual({
        server,
        name: 'echo',
        title: 'Echo',
        description: 'Answers with its text.',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        annotations: { readOnlyHint: true },
      });
      const outputSchema = { type: 'object', properties: { sum: { type: 'number' } } };
      expect(tools[1]).toEqual({ server, name: 'sum', description: '', inputSchema: { type: 'object' }, outputSchema });
    });

    test('does not read a list of tools without an end', async () => {
      const { connection, lost } = await connected(start, 'endless');
      expect(errorOf(await connection.listTools(never()))).toEqual({
        kind: 'invalid_result',
        detail: 'the list exceeds 1000 tools or 1000 pages; let the server offer fewer tools',
      });
      expect(textOf((await call(connection, 'echo', { text: 'a' }))._unsafeUnwrap())).toBe('a');
      expect(lost).toEqual([]);
    });

    test('calls a tool with its input, and resolves with its result, also if that is an error', async () => {
      const { connection } = await connected(start);
      const result = (await call(connection, 'echo', { text: 'Zürich 🚀' }))._unsafeUnwrap();
      expect(result).toMatchObject({ content: [{ type: 'text', text: 'Zürich 🚀' }], isError: false });
      expect(result.raw).toMatchObject({ content: result.content });
      const sum = (await call(connection, 'sum', { a: 1, b: 2.5 }))._unsafeUnwrap();
      expect(sum.structuredContent).toEqual({ sum: 3.5 });
      const failed = (await call(connection, 'fail'))._unsafeUnwrap();
      expect(failed).toMatchObject({ isError: true, content: [{ type: 'text', text: 'it did not work' }] });
    });

    test('answers concurrent calls, each with its own result', async () => {
      const { connection } = await connected(start);
      const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
      const results = await Promise.all(texts.map((text) => call(connection, 'echo', { text })));
      expect(results.map((result) => textOf(result._unsafeUnwrap()))).toEqual(texts);
    });

    test('reports progress before the result', async () => {
      const { connection } = await connected(start);
      const seen: ToolProgress[] = [];
      const onProgress = (progress: ToolProgress) => void seen.push(progress);
      const result = await connection.callTool('steps', {}, { onProgress }, never());
      expect(textOf(result._unsafeUnwrap())).toBe('done');
      expect(seen).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })));
    });

    test('resolves with a JSON-RPC error and its data', async () => {
      const { connection } = await connected(start);
      expect(errorOf(await call(connection, 'refuse'))).toEqual({
        kind: 'json_rpc',
        code: 4711,
        message: 'not allowed',
        data: { field: 'a' },
      });
      expect(errorOf(await call(connection, 'no-such-tool'))).toEqual({
        kind: 'json_rpc',
        code: -32602,
        message: 'Unknown tool: no-such-tool',
      });
    });

    test('does not send a call whose caller has already left', async () => {
      const { connection } = await connected(start);
      const seen: ToolProgress[] = [];
      const signal = AbortSignal.abort();
      const onProgress = (progress: ToolProgress) => void seen.push(progress);
      const outcome = await connection.callTool('steps', {}, { onProgress }, signal);
      expect(errorOf(outcome)).toEqual({ kind: 'aborted' });
      expect(errorOf(await connection.listTools(signal))).toEqual({ kind: 'aborted' });
      await call(connection, 'echo', { text: 'a' });
      expect(seen).toEqual([]);
      expectNoListener(signal);
    });

    test('ends a call at once when its caller leaves, notifies the server, and ends no other call', async () => {
      const { connection, lost } = await connected(start);
      const staying = await callWaiting(connection);
      const leaving = await callWaiting(connection);
      leaving.controller.abort('some reason');
      // Not even the notification has left this process then.
      const outcome = await Promise.race([leaving.outcome, settled()]);
      if (outcome === undefined) throw new Error('The call did not end at once.');
      expect(errorOf(outcome)).toEqual({ kind: 'aborted' });
      expectNoListener(leaving.controller.signal);
      expect(textOf((await call(connection, 'cancelled'))._unsafeUnwrap())).toBe('1');
      expect(leaving.seen).toEqual([{ progress: 0 }]);
      staying.controller.abort();
      expect(errorOf(await staying.outcome)).toEqual({ kind: 'aborted' });
      expect(lost).toEqual([]);
    });

    test('leaves no listener on the signal after a result, an error and a list', async () => {
      const { connection } = await connected(start);
      const { signal } = new AbortController();
      await connection.callTool('echo', { text: 'a' }, { onProgress: ignore }, signal);
      await connection.callTool('refuse', {}, { onProgress: ignore }, signal);
      await connection.listTools(signal);
      expectNoListener(signal);
    });

    test.each([
      ['is too large', { size: 50 * MAX_BYTES }, { size: MAX_BYTES / 2 }, { kind: 'too_large', maxBytes: MAX_BYTES }],
      [
        'nests too deeply',
        { depth: 1000 },
        { depth: 900 },
        { kind: 'invalid_result', detail: 'the answer nests more than 1000 levels deep' },
      ],
    ])('fails only the call whose result %s', async (_, tooMuch, fitting, error) => {
      const { connection, lost } = await connected(start);
      const waiting = await callWaiting(connection);
      expect(errorOf(await call(connection, 'big', tooMuch))).toEqual(error);
      expect((await call(connection, 'big', fitting)).isOk()).toBe(true);
      waiting.controller.abort();
      expect(errorOf(await waiting.outcome)).toEqual({ kind: 'aborted' });
      expect(lost).toEqual([]);
    });

    test('is not limited in the size of all results together', async () => {
      const { connection, lost } = await connected(start);
      for (let sent = 0; sent < 4 * MAX_BYTES; sent += MAX_BYTES / 2) {
        expect((await call(connection, 'big', { size: MAX_BYTES / 2 })).isOk()).toBe(true);
      }
      expect(lost).toEqual([]);
    });

    test('reports that the tools have changed', async () => {
      const { connection, events } = await connected(start);
      await call(connection, 'change');
      await until(() => events.changes > 0);
      const tools = await toolsOf(connection);
      expect(tools.map(({ name }) => name)).toEqual([...STANDARD_TOOLS, 'added1']);
    });

    test('lists and gets prompts, which it declares', async () => {
      const { connection } = await connected(start);
      expect(Object.keys(connection.capabilities).sort()).toEqual(['prompts', 'tools']);
      const prompts = await connection.list('prompts/list', 'prompts', never());
      expect(prompts._unsafeUnwrap()).toEqual([{ name: 'echo' }, { name: 'wait' }, { name: 'change' }]);
      const params = { name: 'echo', arguments: { text: 'Zürich' } };
      expect((await connection.request('prompts/get', params, never()))._unsafeUnwrap()).toMatchObject({
        description: '{"text":"Zürich"}',
        messages: [],
      });
      expect(errorOf(await connection.request('prompts/get', { name: 'refuse' }, never()))).toEqual({
        kind: 'json_rpc',
        code: 4711,
        message: 'not allowed',
        data: { field: 'a' },
      });
      expect(errorOf(await connection.list('prompts/list', 'tools', never()))).toMatchObject({
        kind: 'invalid_result',
      });
    });

    test('ends a request at once when its caller leaves, and notifies the server', async () => {
      const { connection } = await connected(start);
      const controller = new AbortController();
      const waiting = connection.request('prompts/get', { name: 'wait' }, controller.signal);
      // Over HTTP, each request is one of its own: this one arrives later.
      await connection.request('prompts/get', { name: 'echo' }, never());
      controller.abort();
      expect(errorOf(await waiting)).toEqual({ kind: 'aborted' });
      expectNoListener(controller.signal);
      expect(textOf((await call(connection, 'cancelled'))._unsafeUnwrap())).toBe('1');
    });

    test('reports that the prompts have changed', async () => {
      const { connection, events } = await connected(start);
      await connection.request('prompts/get', { name: 'change' }, never());
      await until(() => events.lists.length > 0);
      expect([events.lists, events.changes]).toEqual([['prompts'], 0]);
    });

    test('fails the calls in flight when it is lost, and reports that once', async () => {
      const { connection, lost, lose, untilGone } = await connected(start);
      const waiting = [await callWaiting(connection), await callWaiting(connection)];
      await lose(connection);
      for (const { outcome } of waiting) expect(errorOf(await outcome)).toMatchObject({ kind: 'crashed' });
      // The loss of a connection over HTTP may show only in the next request.
      expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
      expect(lost).toEqual([expect.stringMatching(/\w/)]);
      expect(errorOf(await connection.listTools(never()))).toMatchObject({ kind: 'crashed' });
      await connection.close();
      await untilGone();
      expect(lost).toHaveLength(1);
      expectNoListener(waiting[0]?.controller.signal ?? never());
    });

    test('fails the calls in flight when it is closed, reports no loss, and leaves nothing', async () => {
      const { connection, lost, untilGone } = await connected(start);
      const waiting = await callWaiting(connection);
      await Promise.all([connection.close(), connection.close()]);
      expect(errorOf(await waiting.outcome)).toMatchObject({ kind: 'crashed' });
      await untilGone();
      expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
      expectNoListener(waiting.controller.signal);
      expect(lost).toEqual([]);
    });

    test('connects again after it was closed', async () => {
      const { server, connection } = await connected(start);
      await connection.close();
      const again = (await server.connect(new EventLog(), never()))._unsafeUnwrap();
      onTestFinished(() => again.close());
      expect(textOf((await call(again, 'echo', { text: 'again' }))._unsafeUnwrap())).toBe('again');
    });

    test('a server that cannot be reached is an error for people', async () => {
      const { server, untilGone } = await start('absent');
      const { signal } = new AbortController();
      expect(errorOf(await server.connect(new EventLog(), signal))).toMatch(/\w/);
      await untilGone();
      expectNoListener(signal);
    });

    test('a start that is aborted settles, and leaves nothing', async () => {
      const { server, untilGone } = await start('silent');
      const controller = new AbortController();
      const events = new EventLog();
      const connecting = server.connect(events, controller.signal);
      await new Promise((resolve) => setTimeout(resolve, 100));
      controller.abort();
      expect((await connecting).isErr()).toBe(true);
      await untilGone();
      expectNoListener(controller.signal);
      expect(events.lost).toEqual([]);
    });

    test('does not start if the signal is already aborted', async () => {
      const { server, untilGone } = await start('silent');
      const signal = AbortSignal.abort();
      expect((await server.connect(new EventLog(), signal)).isErr()).toBe(true);
      await untilGone();
      expectNoListener(signal);
    });
  });
}

const STANDARD_TOOLS = ['echo', 'sum', 'fail', 'refuse', 'steps', 'wait', 'cancelled', 'big', 'change'];

const ignore = () => {};

/** What a connection has reported. */
export class EventLog implements ServerEvents {
  readonly lost: string[] = [];
  lastLine: string | undefined;
  changes = 0;
  readonly lists: string[] = [];

  onToolsChanged(): void {
    this.changes += 1;
  }

  onListChanged = (list: string): void => void this.lists.push(list);

  onLost(reason: string, lastLine?: string): void {
    this.lost.push(reason);
    this.lastLine = lastLine;
  }
}

async function connected(start: (beginning: Beginning) => Promise<StartedToolServer>, beginning: Beginning = 'normal') {
  const started = await start(beginning);
  const events = new EventLog();
  const connected = await started.server.connect(events, never());
  if (connected.isErr()) throw new Error(`The server cannot be connected: ${connected.error}`);
  onTestFinished(() => connected.value.close());
  return { ...started, connection: connected.value, events, lost: events.lost };
}

async function toolsOf(connection: ServerConnection) {
  return (await connection.listTools(never()))._unsafeUnwrap().tools;
}

export function call(connection: ServerConnection, name: string, args: JsonObject = {}) {
  return connection.callTool(name, args, { onProgress: ignore }, never());
}

/** A call that the server has received, and answers only when it is cancelled. */
export async function callWaiting(connection: ServerConnection) {
  const controller = new AbortController();
  const seen: ToolProgress[] = [];
  let outcome: ReturnType<ServerConnection['callTool']> | undefined;
  await new Promise<void>((resolve) => {
    const onProgress = (progress: ToolProgress) => {
      seen.push(progress);
      resolve();
    };
    outcome = connection.callTool('wait', {}, { onProgress }, controller.signal);
    void outcome.then(() => resolve());
  });
  if (outcome === undefined) throw new Error('The call was not made.');
  return { outcome, controller, seen };
}
