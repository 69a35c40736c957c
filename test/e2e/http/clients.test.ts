import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, neverAnswers } from '../../support/behaviours.ts';
import type { FakeApi } from '../../support/fake-api.ts';
import { deferred } from '../../support/fake-llm-search.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFolder } from '../files.ts';
import { apiEnv, BUILT_PROGRAM, fakeApi } from '../serve.ts';

const CLIENT_INFO = { name: 'test', version: '1.0.0' };
const PINNED = { pin: '2026-07-28' } as const;

interface Connected {
  readonly listTools: () => Promise<readonly string[]>;
  readonly call: (query: string, options?: CallOptions) => Promise<Record<string, unknown>>;
  /** Errors that the client reported. */
  readonly complaints: readonly unknown[];
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number }) => void;
}

async function connectV1(url: string): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  // The package's types do not fit each other under exactOptionalPropertyTypes.
  await client.connect(new HttpTransportV1(new URL(url)) as unknown as TransportV1);
  onTestFinished(() => client.close());
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (query, options) => client.callTool({ name: 'answer', arguments: { query } }, undefined, { ...options }),
    complaints,
  };
}

async function connectV2(transport: v2.Transport, mode: v2.VersionNegotiationMode): Promise<Connected> {
  const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode } });
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (query, options) => client.callTool({ name: 'answer', arguments: { query } }, { ...options }),
    complaints,
  };
}

const overHttp =
  (connect: (url: string) => Promise<Connected>) =>
  async (api: FakeApi): Promise<Connected> =>
    connect((await startHttpProcess({ env: apiEnv(api) })).url);

const overStdio =
  (mode: v2.VersionNegotiationMode) =>
  (api: FakeApi): Promise<Connected> =>
    connectV2(
      new StdioTransportV2({
        command: process.execPath,
        args: [BUILT_PROGRAM, '--stdio'],
        env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder(), ...apiEnv(api) },
        stderr: 'pipe',
      }),
      mode,
    );

const httpV2 = (mode: v2.VersionNegotiationMode) =>
  overHttp((url) => connectV2(new v2.StreamableHTTPClientTransport(new URL(url)), mode));

describe.each([
  ['v1 over HTTP', overHttp(connectV1)],
  ['v2 over HTTP', httpV2('legacy')],
  ['v2 over HTTP, mode auto', httpV2('auto')],
  ['v2 over HTTP, pinned', httpV2(PINNED)],
  ['v2 over stdio, mode auto', overStdio('auto')],
  ['v2 over stdio, pinned', overStdio(PINNED)],
] as const)('the official client %s', (_, connect) => {
  test('lists the tools, asks, receives progress, asks in parallel, and reports no error', async () => {
    const api = await fakeApi();
    api.replyWith(({ body }) => answers(`Answer to ${String(body.input).split('\n')[0]}`));
    const client = await connect(api);
    expect(await client.listTools()).toEqual(['answer', 'answer_detailed', 'answer_quick']);
    const received: number[] = [];
    const result = await client.call('q', { onprogress: ({ progress }) => void received.push(progress) });
    expect(result.structuredContent).toMatchObject({ answer: 'Answer to q', used_search: false });
    expect(received[0]).toBe(1);
    const results = await Promise.all(['one', 'two', 'three'].map((query) => client.call(query)));
    expect(results.map(({ structuredContent }) => structuredContent)).toMatchObject(
      ['one', 'two', 'three'].map((query) => ({ answer: expect.stringContaining(query) })),
    );
    expect(client.complaints).toEqual([]);
  });
});

// Clients of the older era only post a notification, which cannot cancel anything over HTTP.
test.each([
  ['v2 over HTTP, mode auto', httpV2('auto')],
  ['v2 over HTTP, pinned', httpV2(PINNED)],
  ['v2 over stdio, mode auto', overStdio('auto')],
] as const)('the official client %s aborts a call upstream when it cancels it', async (_, connect) => {
  const api = await fakeApi();
  api.replyAlways(neverAnswers());
  const client = await connect(api);
  const cancelling = new AbortController();
  const call = client.call('q', { signal: cancelling.signal });
  await api.waitForRequests(1);
  cancelling.abort();
  await expect(call).rejects.toThrow();
  await api.waitForAbort(0);
});

const AT_END = 'The server is shutting down; ask again.';
const RESULT = { isError: true, content: [{ type: 'text', text: `answer failed: ${AT_END}` }] };
const onceCut = (call: Promise<Record<string, unknown>>) =>
  call.catch((error: Error & { data?: unknown }) => `${error} ${JSON.stringify(error.data)}`);
const withV2 = (mode: v2.VersionNegotiationMode) => (url: string) =>
  connectV2(new v2.StreamableHTTPClientTransport(new URL(url)), mode);

describe.each([
  ['v1', connectV1],
  ['v2', withV2('legacy')],
  ['v2, pinned', withV2(PINNED)],
] as const)('when the drain ends, the official client %s returns at once', (version, connect) => {
  test.for([
    ['an error, on a stream', 'protocol', true, version === 'v2, pinned' ? RESULT : expect.stringContaining(AT_END)],
    ['a result, on a stream', 'result', true, RESULT],
    ['an error, without a response yet', 'result', false, expect.stringContaining('shutting down')],
  ] as const)('with %s', async ([, toolErrors, hasProgress, expected]) => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const env = { ...apiEnv(api), MCP_HTTP_DRAIN_MS: '100', MCP_TOOL_ERRORS: toolErrors };
    const { url, kill, exited, stderr } = await startHttpProcess({ env });
    const client = await connect(url);
    const { promise: progressed, settle: onprogress } = deferred<unknown>();
    const outcome = onceCut(client.call('q', hasProgress ? { onprogress } : {}));
    await (hasProgress ? progressed : api.waitForRequests(1));
    kill();
    // The clients' own limit is 60 s.
    expect(await outcome).toEqual(
      typeof expected === 'object' && 'isError' in expected ? expect.objectContaining(expected) : expected,
    );
    await exited;
    expect(stderr()).toContain('"outcome":"shutting_down"');
  });
});
