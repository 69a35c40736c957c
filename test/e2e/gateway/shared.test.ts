import { writeFileSync } from 'node:fs';
import path from 'node:path';
import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpTransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { PromptListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { startHttpProcess } from '../../support/http-process.ts';
import { HOME_VARIABLE } from '../../support/platform.ts';
import { STDIO_SERVER } from '../../support/process-tree.ts';
import { newFolder } from '../files.ts';
import { BUILT_PROGRAM, ROOT } from '../serve.ts';

const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

/** Two reference servers, whose URIs are equal, and the server of the tests. */
function configFile(): string {
  const file = path.join(newFolder(), 'config.yaml');
  const everything = { command: process.execPath, args: [EVERYTHING] };
  const standard = { name: 'standard', command: process.execPath, args: [STDIO_SERVER] };
  writeFileSync(
    file,
    JSON.stringify({ servers: [{ name: 'one', ...everything }, { name: 'two', ...everything }, standard] }),
  );
  return file;
}

const stdio = () => ({
  command: process.execPath,
  args: [BUILT_PROGRAM, '--stdio', '--offline', '--expose', '--config', configFile()],
  env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder() },
  stderr: 'pipe' as const,
});

/** What both official clients can do. */
type Methods = Pick<
  v2.Client,
  'listResources' | 'listResourceTemplates' | 'readResource' | 'listPrompts' | 'getPrompt' | 'complete'
>;

/** A client sees the resources, prompts and completions of the servers as those of one server. */
async function expectEverything(client: Methods, unknownResource: number): Promise<void> {
  const { prompts } = await client.listPrompts();
  const own = ['simple-prompt', 'args-prompt', 'completable-prompt', 'resource-prompt'];
  expect(prompts.map(({ name }) => name)).toEqual([
    ...own.map((name) => `one__${name}`),
    ...own.map((name) => `two__${name}`),
    'standard__echo',
    'standard__wait',
    'standard__change',
  ]);
  const prompt = { name: 'two__args-prompt', arguments: { city: 'Zürich' } };
  expect(JSON.stringify(await client.getPrompt(prompt))).toContain("What's weather in Zürich?");

  const { resources } = await client.listResources();
  expect(resources.length % 2).toBe(0);
  const document = 'demo://resource/static/document/features.md';
  const found = resources.filter(({ uri }) => uri.endsWith(document));
  expect(found.map(({ uri, name }) => [uri, name])).toEqual([
    [`gateway:///one/${document}`, 'one__features.md'],
    [`gateway:///two/${document}`, 'two__features.md'],
  ]);
  for (const uri of [document, `gateway:///two/${document}`]) {
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text: expect.stringContaining('Features') }]);
  }
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates[0]).toMatchObject({
    name: 'one__Dynamic Text Resource',
    uriTemplate: 'gateway:///one/demo://resource/dynamic/text/{resourceId}',
  });
  const dynamic = await client.readResource({ uri: 'demo://resource/dynamic/text/7' });
  expect(dynamic.contents).toMatchObject([
    { uri: 'demo://resource/dynamic/text/7', text: expect.stringMatching(/^Resource 7/) },
  ]);
  await expect(client.readResource({ uri: 'none://a' })).rejects.toMatchObject({ code: unknownResource });

  const argument = { name: 'department', value: 'S' };
  for (const [name, values] of [
    ['one__completable-prompt', ['Sales', 'Support']],
    ['standard__echo', []],
  ] as const) {
    expect((await client.complete({ ref: { type: 'ref/prompt', name }, argument })).completion.values).toEqual(values);
  }
}

async function connectV2(transport: v2.Transport, mode: v2.VersionNegotiationMode) {
  const client = new v2.Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, complaints };
}

async function connectV1(transport: TransportV1) {
  const client = new ClientV1({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

test('over stdio, and the client is notified of changes', async () => {
  const client = await connectV1(new StdioTransportV1(stdio()));
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => resolve());
  });
  const listChanged = { listChanged: true };
  expect(client.getServerCapabilities()).toMatchObject({
    resources: listChanged,
    prompts: listChanged,
    completions: {},
  });
  await expectEverything(client as unknown as Methods, -32002);
  await client.getPrompt({ name: 'standard__wait' }, { signal: AbortSignal.timeout(50) }).catch(() => {});
  expect(JSON.stringify(await client.callTool({ name: 'standard__cancelled' }))).toContain('"1"');
  await client.getPrompt({ name: 'standard__change' });
  await changed;
});

test('over stdio in the modern era', async () => {
  const { client, complaints } = await connectV2(new StdioTransportV2(stdio()), 'auto');
  await expectEverything(client, -32602);
  expect(complaints).toEqual([]);
});

test('over HTTP, in both eras', async () => {
  const { url } = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--offline', '--expose', '--config', configFile()],
  });
  await expectEverything(
    (await connectV1(new HttpTransportV1(new URL(url)) as unknown as TransportV1)) as unknown as Methods,
    -32002,
  );
  const { client, complaints } = await connectV2(new v2.StreamableHTTPClientTransport(new URL(url)), 'auto');
  expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {}, prompts: {}, completions: {} });
  await expectEverything(client, -32602);
  const controller = new AbortController();
  const waiting = client.getPrompt({ name: 'standard__wait' }, { signal: controller.signal }).catch(() => 'left');
  await client.getPrompt({ name: 'standard__echo' });
  controller.abort();
  expect(await waiting).toBe('left');
  expect(JSON.stringify(await client.callTool({ name: 'standard__cancelled' }))).toContain('"1"');
  expect(complaints).toEqual([]);
});
