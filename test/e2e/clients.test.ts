import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers, holds, neverAnswers } from '../support/behaviours.ts';
import { deferred } from '../support/fake-llm-search.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { isRunning, STDIO_SERVER } from '../support/process-tree.ts';
import { newFile } from './files.ts';
import { configure } from './gateway/servers.ts';
import { httpV1, httpV2, OFFICIAL_CLIENTS } from './official-clients.ts';
import { apiEnv, fakeApi, ROOT } from './serve.ts';

const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

describe.each(OFFICIAL_CLIENTS)('the official client $name', ({ connect, cancels }) => {
  test('asks and cancels questions, uses the tools of servers as those of one server, and closes', async () => {
    const api = await fakeApi();
    const { config } = configure(['one', 'two']);
    const start = { args: ['--expose', '--config', config], env: apiEnv(api) };
    const { client, call, complaints, pid } = await connect(start);
    expect(client.getServerVersion()?.name).toBe('openai-responses-mcp');
    expect(client.getInstructions()).toContain('Do not add a year');
    const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
    // A first list does not wait for a server that starts slowly.
    await expect.poll(listed).toHaveLength(3 + 2 * 11);
    const names = await listed();
    expect(names.slice(0, 4)).toEqual(['answer', 'answer_detailed', 'answer_quick', 'one__echo']);
    expect(names.filter((name) => name.startsWith('two__'))).toHaveLength(11);

    const held = holds();
    api.reply(held);
    const asking = deferred<{ readonly progress: number }>();
    const asked = call('answer', { query: '本日の東京の天気は？' }, { onprogress: asking.settle });
    // Progress that is read together with the response is lost in the client.
    expect((await asking.promise).progress).toBe(1);
    held.release(answers('東京は晴れです。', { citations: [{ url: 'https://tenki.jp/', title: 'tenki.jp' }] }));
    // The client checks it against the schema of outputs.
    const { structuredContent, content } = await asked;
    expect(structuredContent).toMatchObject({ used_search: true, citations: [{ url: 'https://tenki.jp/' }] });
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);

    api.replyAlways(neverAnswers());
    const cancelling = new AbortController();
    const cancelled = expect(call('answer', { query: 'q' }, { signal: cancelling.signal })).rejects.toThrow();
    await api.waitForRequests(2);
    cancelling.abort('changed my mind');
    await cancelled;
    if (cancels) await api.waitForAbort(1);

    expect(await call('two__echo', { message: '日本語' })).toMatchObject({
      content: [{ type: 'text', text: '日本語' }],
    });
    expect(await call('one__sum', { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } });
    expect(await call('one__picture')).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'resource_link' }],
      _meta: { 'example.com/size': 1 },
    });
    expect(await call('one__fail')).toMatchObject({ content: [{ text: 'It did not work.' }], isError: true });
    await expect(call('one__refuse')).rejects.toMatchObject({ code: -32050, data: { hint: 'tomorrow' } });
    expect(JSON.stringify(await call('one__echo', { text: 'a' }))).toContain('VALIDATION_ERROR');
    const reporting = deferred<object>();
    const reported = call('one__steps', {}, { onprogress: reporting.settle });
    expect(await reporting.promise).toEqual({ progress: 1, total: 2, message: 'step 1' });
    await call('one__steps', { finish: true });
    expect(await reported).toMatchObject({ content: [{ text: 'Done.' }] });
    if (cancels) {
      const leaving = new AbortController();
      const left = expect(call('one__wait', {}, { signal: leaving.signal })).rejects.toThrow();
      // The server reads in order, so that it has received the call.
      await call('one__cancellations');
      leaving.abort();
      await left;
      await expect.poll(async () => JSON.stringify(await call('one__cancellations'))).toContain('"text":"1"');
    }
    expect(JSON.stringify(await call('two__exit'))).toContain('SERVER_CRASHED');
    expect(await call('one__echo', { message: 'still here' })).toMatchObject({ content: [{ text: 'still here' }] });

    // The last progress of a call is read together with its result.
    expect(complaints.map(String).filter((text) => !/progress notification for an unknown token/.test(text))).toEqual(
      [],
    );
    await client.close();
    expect(pid ? isRunning(pid) : false).toBe(false);
  });
});

const BOTH_ERAS = OFFICIAL_CLIENTS.filter(({ name }) => ['v1 over stdio', 'v2 over HTTP, mode auto'].includes(name));

describe.each(BOTH_ERAS)('the official client $name', ({ connect, unknownResource }) => {
  test('uses the resources, prompts and completions of the servers', async () => {
    const servers = [
      { name: 'one', command: process.execPath, args: [EVERYTHING] },
      { name: 'standard', command: process.execPath, args: [STDIO_SERVER] },
    ];
    const config = newFile('config.yaml', JSON.stringify({ servers }));
    const { client, call, complaints } = await connect({ args: ['--offline', '--expose', '--config', config] });
    const listed = async () => (await client.listPrompts()).prompts.map(({ name }) => name);
    // A first list does not wait for a server that starts slowly.
    await expect
      .poll(listed)
      .toEqual([
        ...['one__simple-prompt', 'one__args-prompt', 'one__completable-prompt', 'one__resource-prompt'],
        ...['standard__echo', 'standard__wait', 'standard__change'],
      ]);
    const prompt = { name: 'one__args-prompt', arguments: { city: 'Zürich' } };
    expect(JSON.stringify(await client.getPrompt(prompt))).toContain("What's weather in Zürich?");

    const uri = 'gateway:///one/demo://resource/static/document/features.md';
    await expect
      .poll(async () => (await client.listResources()).resources)
      .toContainEqual(expect.objectContaining({ uri, name: 'one__features.md' }));
    const { contents } = await client.readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType: 'text/markdown', text: expect.stringContaining('Features') }]);
    await expect
      .poll(async () => (await client.listResourceTemplates()).resourceTemplates[0])
      .toMatchObject({
        name: 'one__Dynamic Text Resource',
        uriTemplate: 'gateway:///one/demo://resource/dynamic/text/{resourceId}',
      });
    // A client that follows a link of a result reaches the resource.
    const called = await call('one__get-resource-links', { count: 1 });
    const link = (called.content as { type: string; uri?: string }[]).find(({ type }) => type === 'resource_link');
    expect(link?.uri).toMatch(/^gateway:\/\/\/one\/demo:/);
    expect((await client.readResource({ uri: String(link?.uri) })).contents).toMatchObject([{ uri: link?.uri }]);
    await expect(client.readResource({ uri: 'gateway:///none/a' })).rejects.toMatchObject({ code: unknownResource });

    const ref = { type: 'ref/prompt' as const, name: 'one__completable-prompt' };
    const { completion } = await client.complete({ ref, argument: { name: 'department', value: 'S' } });
    expect(completion.values).toEqual(['Sales', 'Support']);
    expect(complaints).toEqual([]);
  });
});

const AT_END = 'The server is shutting down; ask again.';

test.each([
  ['v1', httpV1, 'protocol', expect.stringContaining(AT_END)],
  [
    'v2, pinned',
    httpV2({ pin: '2026-07-28' }),
    'result',
    expect.objectContaining({ isError: true, content: [{ type: 'text', text: `answer failed: ${AT_END}` }] }),
  ],
] as const)('when the drain ends, the official client %s returns at once', async (_, connect, toolErrors, expected) => {
  const api = await fakeApi();
  api.replyAlways(neverAnswers());
  const env = { ...apiEnv(api), MCP_HTTP_DRAIN_MS: '100', MCP_TOOL_ERRORS: toolErrors };
  const { url, kill, exited, stderr } = await startHttpProcess({ env });
  const { call } = await connect(new URL(url));
  const { promise: progressed, settle: onprogress } = deferred<unknown>();
  const outcome = call('answer', { query: 'q' }, { onprogress }).catch(
    (error: Error & { data?: unknown }) => `${error} ${JSON.stringify(error.data)}`,
  );
  await progressed;
  kill();
  // The limit of the clients is 60 s.
  expect(await outcome).toEqual(expected);
  await exited;
  expect(stderr()).toContain('"outcome":"shutting_down"');
});
