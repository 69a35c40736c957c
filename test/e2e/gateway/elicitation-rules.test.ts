import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { begin, send } from '../../support/http-client.ts';
import type { JsonRpcMessage } from '../../support/mcp-output.ts';
import { type McpProcess, runCli } from '../../support/mcp-process.ts';
import { earlierRemote, earlierServer, modernServer } from '../../support/servers/asking-servers.ts';
import { until } from '../../support/until.ts';
import { newFile, newFolder } from '../files.ts';
import { serve } from '../serve.ts';
import { BOTH, earlierOverStdio, eventually, modernOverStdio, person, textIn } from './elicitation-kit.ts';
import { startGatewayProcess } from './serve-gateway.ts';

const TOKENS = { alice: 'alice-token-alice-token-alice-token', bob: 'bob-token-bob-token-bob-token-bob' };
const ACCEPTED = { question: { action: 'accept', content: { sure: true } } };

/** A gateway over HTTP with two callers, and requests of MCP 2026-07-28 as a client writes them. */
async function startTeam(servers: readonly object[], more: object = {}) {
  const folder = newFolder();
  const audit = join(folder, 'audit.jsonl');
  const gateway = await startGatewayProcess(servers, {
    env: { ALICE: TOKENS.alice, BOB: TOKENS.bob },
    headers: { Authorization: `Bearer ${TOKENS.alice}` },
    yaml: {
      gateway: { expose: true },
      audit: { file: audit },
      http: { token_env: { alice: 'ALICE', bob: 'BOB' } },
      ...more,
    },
  });
  const ask = (tool: string, args: object = {}, retry: object = {}, caller: keyof typeof TOKENS = 'alice') => ({
    headers: headersFor('tools/call', `files__${tool}`, caller),
    body: bodyFor('tools/call', { name: `files__${tool}`, arguments: args, ...retry }),
  });
  await gateway.untilState('files', 'available');
  const call = async (...asked: Parameters<typeof ask>) => (await send(gateway.url, ask(...asked))).message;
  const beginCall = (...asked: Parameters<typeof ask>) => begin(gateway.url, ask(...asked));
  const stateOf = async (...asked: Parameters<typeof ask>) => {
    const { result, error } = await call(...asked);
    if (result?.resultType !== 'input_required') throw new Error(`not asked: ${JSON.stringify(result ?? error)}`);
    return { requestState: result.requestState };
  };
  const lines = () =>
    readFileSync(audit, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject);
  const openQuestions = async () => {
    const { text } = await send(new URL('/metrics', gateway.url).href, {
      method: 'GET',
      headers: { Authorization: `Bearer ${TOKENS.alice}` },
    });
    return [...text.matchAll(/^openai_responses_mcp_open_questions(\S+ \d+)$/gm)].map(([, value]) => value);
  };
  return { ...gateway, rest: gateway.call, call, ask, beginCall, stateOf, lines, openQuestions };
}

/** Files by which a tool of the asking server says how far it is, and waits. */
function holdsCall() {
  const file = join(newFolder(), 'call');
  const untilExists = (what: string) => until(() => existsSync(`${file}.${what}`));
  return {
    file,
    untilBegun: () => untilExists('begun'),
    untilAnswered: () => untilExists('answered'),
    letGo: () => writeFileSync(`${file}.go`, ''),
  };
}

const headersFor = (method: string, name: string, caller: keyof typeof TOKENS) => ({
  Authorization: `Bearer ${TOKENS[caller]}`,
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  'Mcp-Name': name,
});

const bodyFor = (method: string, params: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': BOTH,
    },
  },
});

const withProgress = (body: ReturnType<typeof bodyFor>) => ({
  ...body,
  params: { ...body.params, _meta: { ...body.params._meta, progressToken: 1 } },
});

const REFUSED = { code: -32602, message: expect.stringContaining('Call again without requestState') };

// S81, S82
describe('the state of a question of an earlier server', () => {
  test('answers it once, for its caller and its call', async () => {
    const { call, stateOf, openQuestions, get } = await startTeam([earlierServer('files'), earlierServer('others')]);
    const state = await stateOf('delete', { files: 2 });
    expect(String(state.requestState)).toMatch(/^[\w-]{43}$/);
    expect(await openQuestions()).toEqual(['{server="files"} 1']);
    expect((await get('/mcp/servers')).body.servers).toMatchObject([
      { name: 'files', openQuestions: 1 },
      { name: 'others' },
    ]);
    const retry = { ...state, inputResponses: ACCEPTED };
    for (const refused of [
      await call('delete', { files: 2 }, retry, 'bob'),
      await call('delete', { files: 3 }, retry),
      await call('twice', { files: 2 }, retry),
      await call('delete', { files: 2 }, { ...retry, requestState: 'x'.repeat(43) }),
    ])
      expect(refused.error).toMatchObject(REFUSED);
    expect((await call('delete', { files: 2 }, retry)).result).toMatchObject({
      resultType: 'complete',
      content: [{ text: '{"action":"accept","content":{"sure":true}}' }],
    });
    expect((await call('delete', { files: 2 }, retry)).error).toMatchObject(REFUSED);
    expect(await openQuestions()).toEqual([]);
  });

  test('of two retries at once, one is the answer', async () => {
    const { call, stateOf } = await startTeam([earlierServer('files')]);
    const retry = { ...(await stateOf('delete')), inputResponses: ACCEPTED };
    const both = await Promise.all([call('delete', {}, retry), call('delete', {}, retry)]);
    expect(both.filter(({ error }) => error !== undefined)).toMatchObject([{ error: REFUSED }]);
  });

  test.for([{}, { inputResponses: {} }, { inputResponses: { question: { action: 'maybe' } } }])(
    'a retry with %j is asked again',
    async (more) => {
      const { call, stateOf } = await startTeam([earlierServer('files')]);
      const again = await stateOf('delete', {}, { ...(await stateOf('delete')), ...more });
      const { result } = await call('delete', {}, { ...again, inputResponses: ACCEPTED });
      expect(textIn(result)).toBe('{"action":"accept","content":{"sure":true}}');
    },
  );

  test('answers without a state are no answers', async () => {
    const { stateOf } = await startTeam([earlierServer('files')]);
    await stateOf('delete', {}, { inputResponses: ACCEPTED });
  });

  test('is useless after the time for the answer, and its server gets `cancel`', async () => {
    const { call, stateOf, openQuestions } = await startTeam([
      earlierServer('files', { question_timeout: 2500, timeout: 2000 }),
    ]);
    const state = await stateOf('delete');
    await eventually(async () => (await openQuestions()).length === 0);
    expect((await call('delete', {}, { ...state, inputResponses: ACCEPTED })).error).toMatchObject(REFUSED);
    expect(textIn((await call('seen')).result)).toBe('[{"action":"cancel"}]');
  });

  test('the end of the server ends the call, and the retry says so', async () => {
    const { call, stateOf, openQuestions } = await startTeam([earlierServer('files')]);
    const state = await stateOf('exit');
    await eventually(async () => (await openQuestions()).length === 0);
    const { result } = await call('exit', {}, { ...state, inputResponses: ACCEPTED });
    expect(textIn(result)).toMatch(/^SERVER_CRASHED: /);
  });

  test('a call that asks too often ends', async () => {
    const { call, stateOf } = await startTeam([earlierServer('files')]);
    let state: object = await stateOf('many');
    for (let count = 2; count <= 10; count += 1)
      state = await stateOf('many', {}, { ...state, inputResponses: ACCEPTED });
    const { result } = await call('many', {}, { ...state, inputResponses: ACCEPTED });
    expect(textIn(result)).toMatch(/^INPUT_REQUIRED: files asks: Question 11\? This call has asked too often\./);
  });
});

test('with SIGTERM, an open question ends, and so does the process', async () => {
  const { stateOf, kill, exited } = await startTeam([earlierServer('files')]);
  await stateOf('delete');
  kill();
  expect(await exited).toMatchObject({ code: 0 });
});

// S80
describe('several callers of one server on standard input', () => {
  test('a call waits while a question to another caller is open, and says so', async () => {
    const { call, ask, url, stateOf } = await startTeam([earlierServer('files')]);
    const state = await stateOf('delete');
    const { headers, body } = ask('echo', { text: 'theirs' }, {}, 'bob');
    const waiting = begin(url, { headers, body: withProgress(body) });
    await waiting.until('files has asked another caller a question');
    expect(textIn((await call('echo', { text: 'mine' })).result)).toBe('mine');
    await call('delete', {}, { ...state, inputResponses: ACCEPTED });
    const { events } = await waiting.reply;
    expect(textIn(events.at(-1)?.result)).toBe('theirs');
  });

  test('a call waits only for its own time limit', async () => {
    const { call, stateOf } = await startTeam([earlierServer('files', { timeout: 2000 })]);
    await stateOf('delete');
    expect(textIn((await call('echo', {}, {}, 'bob')).result)).toMatch(/^TIMEOUT_ERROR: /);
  });

  test('nobody is asked what the call of another person may want to know', async () => {
    const { call, beginCall } = await startTeam([earlierServer('files')]);
    const held = holdsCall();
    const slow = beginCall('slow', { file: held.file }, {}, 'bob');
    await held.untilBegun();
    const { result } = await call('delete');
    held.letGo();
    expect(textIn(result)).toMatch(
      /^INPUT_REQUIRED: files needs to ask a question\. Calls of several callers were running/,
    );
    expect(textIn((await slow.reply).message.result)).toBe('slow');
  });

  test('nobody is asked what a prompt or a cancelled call of another person wants to know', async () => {
    const { call, beginCall, url } = await startTeam([earlierServer('files')]);
    const [heldLate, heldSlow] = [holdsCall(), holdsCall()];
    const left = beginCall('late', { file: heldLate.file });
    left.reply.catch(() => {});
    const slow = beginCall('slow', { file: heldSlow.file }, {}, 'bob');
    await Promise.all([heldLate.untilBegun(), heldSlow.untilBegun()]);
    left.leave();
    const prompt = { name: 'files__ask' };
    const headers = headersFor('prompts/get', prompt.name, 'alice');
    const { text } = await send(url, { headers, body: bodyFor('prompts/get', prompt) });
    expect(text).toContain('cancel');
    heldLate.letGo();
    await heldLate.untilAnswered();
    heldSlow.letGo();
    const { result } = (await slow.reply).message;
    expect(result).toMatchObject({
      content: [{ text: expect.stringMatching(/^INPUT_REQUIRED: files needs to ask a question\./) }, { text: 'slow' }],
    });
    expect(textIn((await call('seen')).result)).toBe('[{"action":"cancel"},{"action":"cancel"}]');
  });

  test('over Streamable HTTP, the stream says whose call asks', async () => {
    const { call, beginCall, stateOf } = await startTeam([await earlierRemote('files')]);
    const held = holdsCall();
    const slow = beginCall('slow', { file: held.file }, {}, 'bob');
    await held.untilBegun();
    const state = await stateOf('delete');
    expect(textIn((await call('echo', { text: 'at once' }, {}, 'bob')).result)).toBe('at once');
    expect(textIn((await call('delete', {}, { ...state, inputResponses: ACCEPTED })).result)).toContain('accept');
    held.letGo();
    expect(textIn((await slow.reply).message.result)).toBe('slow');
  });
});

test('open questions of one caller leave places on the server to others, who do not see them', async () => {
  const { call, stateOf, url } = await startTeam([await earlierRemote('files', { max_concurrency: 2 })]);
  // Callers share the connection, whose server may ask each of them.
  expect(JSON.parse(textIn((await call('declared')).result))).toEqual(BOTH);
  const state = await stateOf('delete');
  expect(textIn((await call('delete')).result)).toMatch(
    /^INPUT_REQUIRED: files asks: .* Too many of your questions are open\. Answer or cancel them, then call/,
  );
  expect(textIn((await call('echo', { text: 'theirs' }, {}, 'bob')).result)).toBe('theirs');
  const seenBy = async (caller: keyof typeof TOKENS) => {
    const headers = { Authorization: `Bearer ${TOKENS[caller]}` };
    const { text } = await send(new URL('/mcp/servers', url).href, { method: 'GET', headers });
    return (JSON.parse(text) as { servers: JsonObject[] }).servers.map(({ openQuestions }) => openQuestions);
  };
  expect([await seenBy('alice'), await seenBy('bob')]).toEqual([[1], [undefined]]);
  await call('delete', {}, { ...state, inputResponses: ACCEPTED });
  await stateOf('delete');
});

test('a question outside of a call gets `cancel`', async () => {
  const { call } = await startTeam([earlierServer('files')]);
  const { file, untilAnswered } = holdsCall();
  expect(textIn((await call('outside', { file })).result)).toBe('done');
  await untilAnswered();
  expect(textIn((await call('seen')).result)).toBe('[{"action":"cancel"}]');
});

describe('REST', () => {
  test.for(['earlier', 'modern'])('an %s server gets no answer', async (era) => {
    const server = era === 'modern' ? (await modernServer('files')).entry : earlierServer('files');
    const gateway = await startTeam([server]);
    const { status, body } = await gateway.rest('files', 'delete', {});
    expect(status).toBe(422);
    const words = era === 'modern' ? 'files needs to ask a question.' : 'files asks: Delete 3 files?';
    expect(body.error).toMatchObject({ code: 'INPUT_REQUIRED', message: expect.stringContaining(words) });
    if (era === 'earlier')
      expect(body.error).toMatchObject({
        details: {
          questions: [{ method: 'elicitation/create', params: { message: 'Delete 3 files?' } }],
          result: { content: [{ text: '{"action":"cancel"}' }], isError: false },
        },
      });
  });

  test('a URL that must be visited first is in the words', async () => {
    const gateway = await startTeam([earlierServer('files')]);
    const { body } = await gateway.rest('files', 'urls-first', {});
    expect((body.error as JsonObject).message).toMatch(
      /^files asks: Sign in \(https:\/\/example\.com\/first\) Nobody can be asked here\./,
    );
  });
});

test('in a script, a call cannot be asked', async () => {
  const config = newFile('config.yaml', JSON.stringify({ servers: [(await modernServer('files')).entry] }));
  const { code, stderr } = await runCli(['call', 'files', 'delete', '{}', '--config', config]);
  expect(code).toBe(1);
  expect(stderr).toContain('Nobody can be asked here.');
});

describe('URLs that must be visited first', () => {
  test('are asked, and the call is sent again', async () => {
    const by = person(() => ({ action: 'accept' }));
    const client = await earlierOverStdio([earlierServer('files')], by);
    const result = await client.callTool({ name: 'files__urls-first', arguments: {} });
    expect(textIn(result)).toBe('visited');
    expect(by.asked).toMatchObject([{ mode: 'url', url: 'https://example.com/first', message: 'files asks: Sign in' }]);
  });

  test('end the call if the person declines', async () => {
    const client = await modernOverStdio(
      [earlierServer('files')],
      person(() => ({ action: 'decline' })),
    );
    const result = await client.callTool({ name: 'files__urls-first', arguments: {} });
    expect(textIn(result)).toMatch(
      /^INPUT_REQUIRED: files asks: Sign in \(https:\/\/example\.com\/first\) The person who was asked declined/,
    );
  });
});

describe('a modern server', () => {
  test('gets the retry as the client wrote it, and what the client declared', async () => {
    const { entry, seen } = await modernServer('files');
    const { call, stateOf } = await startTeam([entry]);
    const state = await stateOf('delete');
    expect(state).toEqual({ requestState: '[]' });
    const inputResponses = { q0: { action: 'decline' } };
    expect(textIn((await call('delete', {}, { ...state, inputResponses })).result)).toBe('{"action":"decline"}');
    expect(seen).toMatchObject([
      { envelope: { 'io.modelcontextprotocol/clientCapabilities': BOTH } },
      { inputResponses, requestState: '[]' },
    ]);
  });

  test('asks about a prompt and a resource, too', async () => {
    const by = person(() => ({ action: 'accept', content: {} }));
    const { entry } = await modernServer('files');
    const client = await modernOverStdio([entry], by);
    const { messages } = await client.getPrompt({ name: 'files__ask' });
    expect(messages).toMatchObject([{ content: { text: '{"action":"accept","content":{}}' } }]);
    const { contents } = await client.readResource({ uri: 'ask://why' });
    expect(contents).toMatchObject([{ text: '{"action":"accept","content":{}}' }]);
    expect(by.asked).toMatchObject([{ message: 'files asks: Why?' }, { message: 'files asks: Which?' }]);
    const earlier = await earlierOverStdio([entry], by);
    const asks = [() => earlier.getPrompt({ name: 'files__ask' }), () => earlier.readResource({ uri: 'ask://why' })];
    for (const ask of asks) await expect(ask()).rejects.toThrow(/INPUT_REQUIRED: files .* Nobody can be asked here/);
  });

  test('asks a model only if the client declares that', async () => {
    const { entry } = await modernServer('files');
    const { call } = await startTeam([entry]);
    expect((await call('samples')).error?.message).toContain('sampling/createMessage');
  });
});

test('a call counts once, and its audit has what was done, but no text', async () => {
  const { entry } = await modernServer('files');
  for (const server of [earlierServer('files'), entry]) {
    const { call, stateOf, lines, stderr } = await startTeam([server], {
      server: { debug: true },
      http: { token_env: { alice: 'ALICE', bob: 'BOB' }, quota: { calls_per_day: 1 } },
    });
    const key = server === entry ? 'q0' : 'question';
    let state: object = await stateOf('twice');
    state = await stateOf('twice', {}, { ...state, inputResponses: { [key]: { action: 'decline' } } });
    const last = server === entry ? 'q1' : key;
    const { result } = await call(
      'twice',
      {},
      { ...state, inputResponses: { [last]: { action: 'accept', content: { reason: 'secret words' } } } },
    );
    expect(textIn(result)).toContain('secret words');
    expect((await call('echo')).error?.message).toMatch(/quota/i);
    const mode = server === entry ? {} : { mode: 'form' };
    expect(lines().at(-1)).toMatchObject({
      outcome: 'answered',
      questions: [
        { server: 'files', action: 'decline', ...mode },
        { server: 'files', action: 'accept', ...mode },
      ],
    });
    expect(JSON.stringify(lines()) + stderr()).not.toMatch(/secret words|First\?/);
  }
});

describe('on standard input', () => {
  test('a cancelled call cancels its question', async () => {
    let isCancelled = false;
    const by = person((_, signal) => {
      signal?.addEventListener('abort', () => {
        isCancelled = true;
      });
      return new Promise(() => {});
    });
    const client = await earlierOverStdio([earlierServer('files')], by);
    const ending = new AbortController();
    const called = client.callTool({ name: 'files__delete', arguments: {} }, undefined, { signal: ending.signal });
    await until(() => by.asked.length > 0);
    ending.abort();
    await expect(called).rejects.toThrow();
    await until(() => isCancelled);
    expect(textIn(await client.callTool({ name: 'files__seen', arguments: {} }))).toBe('[{"action":"cancel"}]');
  });

  test.for(['2025-11-25', '2026-07-28'])(
    'the end of the input and SIGTERM end an open question of %s',
    async (revision) => {
      const config = newFile('config.yaml', JSON.stringify({ servers: [earlierServer('files')] }));
      const isModern = revision === '2026-07-28';
      const { _meta } = bodyFor('tools/call', {}).params;
      const isAsked = ({ method, result }: JsonRpcMessage) =>
        method === 'elicitation/create' || result?.resultType === 'input_required';
      const ends = [(server: McpProcess) => server.closeStdin(), (server: McpProcess) => server.kill('SIGTERM')];
      for (const end of ends) {
        const server = serve({ args: ['--stdio', '--offline', '--expose', '--config', config] });
        if (!isModern) await server.initialize({ protocolVersion: revision, capabilities: BOTH });
        const called = server.callTool('files__delete', {}, isModern ? _meta : undefined);
        await server.waitFor(isAsked);
        end(server);
        expect((await server.exited).code).toBe(0);
        if (isModern || end !== ends[0]) continue;
        const { result } = await called;
        expect(textIn(result)).toMatch(
          /^INPUT_REQUIRED: .* the program or its client was ending\. Call this tool again\.$/,
        );
        expect(JSON.stringify(result)).toContain('{\\"action\\":\\"cancel\\"}');
      }
    },
  );

  test('a prompt about which a server asks fails, also if its server continues', async () => {
    const by = person();
    for (const connect of [earlierOverStdio, modernOverStdio]) {
      const client = await connect([earlierServer('files')], by);
      await expect(client.getPrompt({ name: 'files__ask' })).rejects.toThrow(
        /INPUT_REQUIRED: files asks: Why\? Nobody can be asked here\./,
      );
    }
    expect(by.asked).toEqual([]);
  });

  test('a server takes its question back', async () => {
    const client = await earlierOverStdio(
      [earlierServer('files')],
      person(() => new Promise(() => {})),
    );
    expect(textIn(await client.callTool({ name: 'files__taken-back', arguments: {} }))).toBe('taken back');
  });

  test('a visited URL is reported as done', async () => {
    const client = await earlierOverStdio(
      [earlierServer('files')],
      person(() => ({ action: 'accept' })),
    );
    const done: unknown[] = [];
    client.fallbackNotificationHandler = async (notification) => void done.push(notification);
    await client.callTool({ name: 'files__completes', arguments: {} });
    await until(() => done.length > 0);
    expect(done).toMatchObject([{ method: 'notifications/elicitation/complete', params: { elicitationId: 'c' } }]);
  });

  test.for<[capabilities: object, declared: object]>([
    [{}, {}],
    [{ elicitation: {} }, { elicitation: { form: {} } }],
    [BOTH, BOTH],
  ])('a server gets the capabilities of a client with %j', async ([capabilities, declared]) => {
    const client = await earlierOverStdio([earlierServer('files')], person(), capabilities);
    expect(JSON.parse(textIn(await client.callTool({ name: 'files__declared', arguments: {} })))).toEqual(declared);
  });
});
