import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, fails, holds, neverAnswers } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { newFolder } from './files.ts';
import { type AnswerJson, apiEnv, BUILT_PROGRAM, fakeApi } from './serve.ts';

/** What the tests need of an official client, whichever it is. */
interface OfficialClient {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(
    call: { name: string; arguments: Record<string, unknown> },
    options?: { signal: AbortSignal },
  ): Promise<Record<string, unknown>>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
  getServerVersion(): { name: string; version: string } | undefined;
}

interface Connected {
  readonly client: OfficialClient;
  /** What the client complained of: junk on stdout, messages nobody asked for. */
  readonly complaints: unknown[];
  /** The server's process. */
  readonly pid: number;
}

const CLIENT_INFO = { name: 'e2e', version: '1.0.0' };

const serverParameters = (api: FakeApi) => ({
  command: process.execPath,
  args: [BUILT_PROGRAM, '--stdio'],
  env: { PATH: process.env.PATH ?? '', HOME: newFolder(), ...apiEnv(api) },
  stderr: 'pipe' as const,
});

async function connectV1(api: FakeApi): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const transport = new StdioTransportV1(serverParameters(api));
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client: {
      listTools: () => client.listTools(),
      callTool: (call, options) => client.callTool(call, undefined, options),
      ping: () => client.ping(),
      close: () => client.close(),
      getServerVersion: () => client.getServerVersion(),
    },
    complaints,
    pid: transport.pid ?? 0,
  };
}

function connectV2(mode: 'legacy' | 'auto'): (api: FakeApi) => Promise<Connected> {
  return async (api) => {
    const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode } });
    const transport = new StdioTransportV2(serverParameters(api));
    const complaints: unknown[] = [];
    client.onerror = (error) => void complaints.push(error);
    await client.connect(transport);
    onTestFinished(() => client.close());
    return {
      client: {
        listTools: () => client.listTools(),
        callTool: (call, options) => client.callTool(call, options),
        ping: () => client.ping(),
        close: () => client.close(),
        getServerVersion: () => client.getServerVersion(),
      },
      complaints,
      pid: transport.pid ?? 0,
    };
  };
}

describe.each([
  ['v1', connectV1],
  ['v2', connectV2('legacy')],
  ['v2 in mode auto', connectV2('auto')],
] as const)('the official client %s', (_, connect) => {
  test('connects, lists and calls each tool', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    expect(client.getServerVersion()?.name).toBe('openai-responses-mcp');

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['answer', 'answer_detailed', 'answer_quick']);

    api.replyAlways(answers('東京は晴れです。', { citations: [{ url: 'https://tenki.jp/', title: 'tenki.jp' }] }));
    for (const { name } of tools) {
      const answer = toAnswer(await client.callTool({ name, arguments: { query: '本日の東京の天気は？' } }));
      expect(answer).toMatchObject({ used_search: true, model: 'gpt-5.2', citations: [{ url: 'https://tenki.jp/' }] });
      expect(answer.answer).toMatch(/^東京は晴れです。\n\nSources:\n/);
    }
    expect(complaints).toEqual([]);
  });

  test('runs calls in parallel', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    const slow = holds();
    api.replyWith(({ body }) => (String(body.input).startsWith('slow') ? slow : answers('Quick.')));
    const first = client.callTool({ name: 'answer', arguments: { query: 'slow' } });
    await api.waitForRequests(1);
    expect(toAnswer(await client.callTool({ name: 'answer', arguments: { query: 'quick' } })).answer).toBe('Quick.');
    slow.release(answers('Slow.'));
    expect(toAnswer(await first).answer).toBe('Slow.');
    expect(complaints).toEqual([]);
  });

  test('cancels a call, and the request upstream is aborted', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    api.replyAlways(neverAnswers());
    const cancelling = new AbortController();
    const call = client.callTool({ name: 'answer', arguments: { query: 'q' } }, { signal: cancelling.signal });
    const rejected = expect(call).rejects.toThrow();
    await api.waitForRequests(1);
    cancelling.abort('changed my mind');
    await rejected;
    await api.waitForAbort(0);
    expect((await client.listTools()).tools).toHaveLength(3);
    expect(complaints).toEqual([]);
  });

  test('gets a failure in words', async () => {
    const api = await fakeApi();
    const { client } = await connect(api);
    api.replyAlways(
      fails({
        status: 401,
        error: { message: 'No.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
      }),
    );
    const call = client.callTool({ name: 'answer', arguments: { query: 'q' } });
    const outcome = await call.then(JSON.stringify, ({ code, message, data }) =>
      JSON.stringify({ code, message, data }),
    );
    expect(outcome).toContain('answer failed');
    expect(outcome).toContain('OPENAI_API_KEY');
  });

  test('pings and closes, and the server is gone at once', async () => {
    const api = await fakeApi();
    const { client, complaints, pid } = await connect(api);
    // Not part of the protocol of 2026-07-28: there the client refuses by itself.
    await client.ping().catch((error: unknown) => expect(String(error)).toMatch(/METHOD_NOT_SUPPORTED|not supported/i));
    expect(isRunning(pid)).toBe(true);
    const startedAt = performance.now();
    await client.close();
    // Clients wait 2 s at the end of input before they kill.
    expect(performance.now() - startedAt).toBeLessThan(1800);
    expect(isRunning(pid)).toBe(false);
    expect(complaints).toEqual([]);
  });
});

function toAnswer({ content, isError }: Record<string, unknown>): AnswerJson {
  expect(isError ?? false).toBe(false);
  const [first] = content as { type: string; text: string }[];
  return JSON.parse(first?.text ?? '') as AnswerJson;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
