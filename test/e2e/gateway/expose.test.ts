import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpProcess } from '../../support/http-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { newFolder } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';
import { configure } from './servers.ts';

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
}

/** What the tests need of an official client. */
interface Connected {
  readonly list: () => Promise<{ readonly tools: readonly Record<string, unknown>[] }>;
  readonly call: (name: string, args?: object, options?: CallOptions) => Promise<Record<string, unknown>>;
  readonly complaints: readonly unknown[];
}

const CLIENT_INFO = { name: 'test', version: '1.0.0' };

const parameters = (config: string) => ({
  command: process.execPath,
  args: [BUILT_PROGRAM, '--stdio', '--expose', '--config', config],
  env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder() },
  stderr: 'pipe' as const,
});
const overHttp = async (config: string) =>
  new URL((await startHttpProcess({ args: ['--http=127.0.0.1:0', '--expose', '--config', config] })).url);

async function connectV1(transport: TransportV1): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    list: () => client.listTools(),
    call: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, undefined, { ...options }),
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
    list: () => client.listTools(),
    call: (name, args = {}, options) => client.callTool({ name, arguments: { ...args } }, { ...options }),
    complaints,
  };
}

const CLIENTS: readonly (readonly [string, (config: string) => Promise<Connected>])[] = [
  ['v1 over stdio', (config) => connectV1(new StdioTransportV1(parameters(config)))],
  ['v2 over stdio', (config) => connectV2(new StdioTransportV2(parameters(config)), 'legacy')],
  ['v2 over stdio, mode auto', (config) => connectV2(new StdioTransportV2(parameters(config)), 'auto')],
  [
    'v1 over HTTP',
    // The package's types do not fit each other under exactOptionalPropertyTypes.
    async (config) => connectV1(new HttpTransportV1(await overHttp(config)) as unknown as TransportV1),
  ],
  ['v2 over HTTP', async (config) => connectV2(new v2.StreamableHTTPClientTransport(await overHttp(config)), 'legacy')],
  [
    'v2 over HTTP, mode auto',
    async (config) => connectV2(new v2.StreamableHTTPClientTransport(await overHttp(config)), 'auto'),
  ],
];

describe.each(CLIENTS)('the official client %s', (name, connect) => {
  test('lists and calls the tools of the servers as those of one server, with progress and cancellation', async () => {
    const client = await connect(configure(['one', 'two']).config);
    const { tools } = await client.list();
    const names = tools.map(({ name }) => name);
    expect(names.slice(0, 4)).toEqual(['answer', 'answer_detailed', 'answer_quick', 'one__echo']);
    expect(names.filter((name) => String(name).startsWith('two__'))).toHaveLength(11);
    expect(tools[3]).toEqual({
      name: 'one__echo',
      title: 'Echo',
      description: 'Says it again.',
      inputSchema: {
        type: 'object',
        properties: { message: { $ref: '#/$defs/message' } },
        required: ['message'],
        additionalProperties: false,
        $defs: { message: { type: 'string', description: 'What to say' } },
      },
      annotations: { readOnlyHint: true, title: 'Echo' },
    });
    expect(tools[4]).toEqual({
      name: 'one__sum',
      inputSchema: { type: 'object' },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    });

    expect(await client.call('two__echo', { message: '日本語' })).toMatchObject({
      content: [{ type: 'text', text: '日本語' }],
    });
    expect(await client.call('one__sum', { a: 1, b: 2 })).toMatchObject({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
    expect(await client.call('one__picture')).toMatchObject({
      content: [
        { type: 'text', text: 'A picture' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        { type: 'resource_link', uri: 'file:///a.png', name: 'a.png' },
      ],
      _meta: { 'example.com/size': 1 },
    });
    expect(await client.call('one__fail')).toMatchObject({
      content: [{ type: 'text', text: 'It did not work.' }],
      isError: true,
    });
    await expect(client.call('one__refuse')).rejects.toMatchObject({
      code: -32050,
      message: expect.stringMatching(/Not today$/),
      data: { hint: 'tomorrow' },
    });
    const wrong = await client.call('one__echo', { text: 'a' });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong)).toContain('VALIDATION_ERROR');

    const reported: Progress[] = [];
    await client.call('one__steps', {}, { onprogress: (progress) => void reported.push(progress) });
    expect(reported).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);

    // Clients of the older era only post a notification, which cannot cancel anything over HTTP.
    if (!name.includes('HTTP') || name.includes('auto')) {
      const cancelling = new AbortController();
      const cancelled = expect(client.call('one__wait', {}, { signal: cancelling.signal })).rejects.toThrow();
      // The server reads in order, so that it has received the call.
      await client.call('one__cancellations');
      cancelling.abort('changed my mind');
      await cancelled;
      await expect.poll(async () => JSON.stringify(await client.call('one__cancellations'))).toContain('"text":"1"');
    }

    const lost = await client.call('two__exit');
    expect(lost.isError).toBe(true);
    expect(JSON.stringify(lost)).toContain('SERVER_CRASHED');
    expect(await client.call('one__echo', { message: 'still here' })).toMatchObject({
      content: [{ text: 'still here' }],
    });
    expect(client.complaints).toEqual([]);
  });
});

test('pages of 100 tools are read by the official client', async () => {
  const client = await connectV2(new StdioTransportV2(parameters(configure(['one'], { count: 250 }).config)), 'auto');
  const { tools } = await client.list();
  expect(tools).toHaveLength(3 + 11 + 250);
  expect(await client.call('one__tool_249')).toMatchObject({ content: [{ text: '249' }] });
});

test('the official client finds a tool, and calls it through the others', async () => {
  const { config } = configure(['one', 'two'], { yaml: { gateway: { always: ['two/sum'] } } });
  const { args, ...more } = parameters(config);
  const transport = new StdioTransportV2({
    ...more,
    args: args.map((arg) => arg.replace('--expose', '--expose=search')),
  });
  const client = await connectV2(transport, 'auto');
  const { tools } = await client.list();
  expect(tools.map(({ name }) => name).slice(3)).toEqual(['find_tools', 'read_tool', 'call_tool', 'two__sum']);
  const { structuredContent } = await client.call('find_tools', { query: 'echo', limit: 1 });
  expect(structuredContent).toMatchObject({ tools: [{ name: 'one__echo', title: 'Echo' }], matches: 2 });
  const echoed = await client.call('read_tool', { name: 'two__echo', arguments: { message: '日本語' } });
  expect(echoed).toMatchObject({ content: [{ type: 'text', text: '日本語' }] });
  expect(await client.call('read_tool', { name: 'one__sum', arguments: { a: 1, b: 2 } })).toMatchObject({
    isError: true,
  });
  const summed = await client.call('call_tool', { name: 'one__sum', arguments: { a: 1, b: 2 } });
  expect(summed).toMatchObject({ structuredContent: { sum: 3 } });
  expect(client.complaints).toEqual([]);
});
