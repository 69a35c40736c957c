import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiId } from './api-response.ts';
import * as behaviours from './behaviours.ts';
import { type FakeApi, startFakeApi } from './fake-api.ts';

const { answers, fails, holds } = behaviours;

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

function ask(body: object = { model: 'gpt-5' }, signal?: AbortSignal): Promise<Response> {
  return fetch(`${api.url}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  });
}

/** The types in the `event:` lines of a body. */
function eventTypes(body: string): string[] {
  return [...body.matchAll(/^event: (.*)$/gm)].map(([, type]) => type ?? '');
}

/** Everything that a body contains before it ends or fails. */
async function readUntilFailure(response: Response): Promise<{ text: string; failed: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
    return { text, failed: false };
  } catch {
    return { text, failed: true };
  }
}

/** Reads from a stalled body until it has `count` events. */
async function readEvents(response: Response, count: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  while (eventTypes(text).length < count || !text.endsWith('\n\n')) {
    text += decoder.decode((await reader?.read())?.value, { stream: true });
  }
  return text;
}

test('answers with a stream, and records the request', async () => {
  api.reply(answers('Hello'));
  const response = await ask({ model: 'gpt-5', input: 'Hi' });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(eventTypes(await response.text()).at(-1)).toBe('response.completed');
  expect(api.requests).toMatchObject([
    { method: 'POST', path: '/v1/responses', body: { model: 'gpt-5', input: 'Hi' }, aborted: false },
  ]);
});

test('answers in the configured order, then always the same, and fails with a clear error if nothing is configured', async () => {
  expect((await ask()).status).toBe(400);
  api.reply(behaviours.sendsJson(1), behaviours.sendsJson(2));
  api.replyAlways(behaviours.sendsJson(3));
  const replies = [await ask(), await ask(), await ask(), await ask()].map((response) => response.json());
  expect(await Promise.all(replies)).toEqual([1, 2, 3, 3]);
});

test('lets the test choose by the request', async () => {
  api.replyWith(({ body }) => behaviours.sendsJson({ youAsked: body.input }));
  expect(await (await ask({ input: 'a' })).json()).toEqual({ youAsked: 'a' });
});

test('serves one path', async () => {
  const response = await fetch(`${api.url}/models`);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { message: 'Invalid URL (GET /v1/models)' } });
});

test('answers with one JSON body', async () => {
  api.reply(behaviours.answersJson('Hello'));
  expect(await (await ask({ stream: true })).json()).toMatchObject({
    object: 'response',
    output: [{ content: [{ text: 'Hello' }] }],
  });
});

test('gives each reply different ids', async () => {
  api.replyAlways(behaviours.answersJson('Hello'));
  const [first, second] = [Object(await (await ask()).json()), Object(await (await ask()).json())];
  expect(first.id).toMatch(/^resp_[0-9a-f]{50}$/);
  expect(first.id).not.toBe(second.id);
});

test('sends a body unchanged', async () => {
  const body = Buffer.from([0xff, 0x00, 0x0a]);
  api.reply(behaviours.sendsBody({ status: 203, contentType: 'a/b', headers: { 'x-c': 'd' }, body }));
  const response = await ask();
  expect([response.status, response.headers.get('content-type'), response.headers.get('x-c')]).toEqual([
    203,
    'a/b',
    'd',
  ]);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(body);
});

test('fails with the error envelope, or with a page', async () => {
  const error = { message: 'Slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' };
  api.reply(fails({ status: 429, error, headers: { 'retry-after': '1' } }), behaviours.failsHtml(502));
  const limited = await ask();
  expect([limited.status, limited.headers.get('retry-after'), await limited.json()]).toEqual([429, '1', { error }]);
  const page = await ask();
  expect([page.status, page.headers.get('content-type')]).toEqual([502, 'text/html']);
  expect(await page.text()).toContain('<h1>502');
});

test('never answers, and detects that the client closes', async () => {
  api.reply(behaviours.neverAnswers());
  const client = new AbortController();
  const response = ask({}, client.signal);
  await api.waitForRequests(1);
  expect(api.openResponses()).toBe(1);
  expect(api.requests[0]?.aborted).toBe(false);
  client.abort();
  await expect(response).rejects.toThrow();
  await api.waitForAbort(0);
  expect(api.requests[0]?.aborted).toBe(true);
  expect(api.openResponses()).toBe(0);
});

test('does not report a complete answer as aborted', async () => {
  api.reply(answers('Hello'));
  await (await ask()).text();
  await expect(api.waitForAbort(0)).rejects.toThrow('answered in full');
});

test('stalls after headers, or after some events', async () => {
  api.reply(behaviours.stallsAfterHeaders(), behaviours.stallsMidStream(3));
  expect((await ask()).status).toBe(200);
  expect(eventTypes(await readEvents(await ask(), 3))).toHaveLength(3);
  expect(api.openResponses()).toBe(2);
});

test('resets before and in the middle of headers', async () => {
  api.reply(behaviours.resetsBeforeHeaders(), behaviours.resetsDuringHeaders());
  await expect(ask()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  await expect(ask()).rejects.toThrow();
  await api.until(() => api.openConnections() === 0);
  expect(api.requests).toMatchObject([{ aborted: false }, { aborted: false }]);
});

test('resets in the middle of a stream, whose beginning is received', async () => {
  api.reply(behaviours.resetsMidStream(5));
  const { text, failed } = await readUntilFailure(await ask());
  expect(failed).toBe(true);
  expect(eventTypes(text)).toHaveLength(5);
});

test('ends a stream early, without an error', async () => {
  api.reply(behaviours.cutsStream());
  const { text, failed } = await readUntilFailure(await ask());
  expect(failed).toBe(false);
  expect(eventTypes(text).slice(-2)).toEqual(['response.output_text.delta', 'response.output_text.delta']);
});

test('fails inside a stream, nested or flat, and with one event only', async () => {
  const failure = { code: 'server_error', message: 'Oh no' };
  api.reply(
    behaviours.failsInStream(failure),
    behaviours.failsInStream({ ...failure, flat: true }),
    behaviours.failsInStream({ ...failure, only: 'response.failed' }),
  );
  const nested = await (await ask()).text();
  expect(eventTypes(nested).slice(-2)).toEqual(['error', 'response.failed']);
  expect(nested).toContain('{"type":"error","error":{"type":"server_error","code":"server_error","message":"Oh no"');
  expect(await (await ask()).text()).toContain('{"type":"error","code":"server_error","message":"Oh no","param":null');
  expect(eventTypes(await (await ask()).text())).not.toContain('error');
});

test('sends one invalid event in a valid stream', async () => {
  api.reply(behaviours.sendsBrokenEvent(2));
  const data = (await (await ask()).text()).match(/^data: .*$/gm) ?? [];
  const invalid = data.map((line) => line.slice(6)).filter((json) => !isJson(json));
  expect(invalid).toEqual([data[2]?.slice(6)]);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('sends unknown events, an empty body, or any JSON', async () => {
  api.reply(behaviours.sendsUnknownEvents(), behaviours.emptyBody(), behaviours.sendsJson(null, 500));
  expect(eventTypes(await (await ask()).text())).toContain('keepalive');
  const empty = await ask();
  expect([empty.status, await empty.text()]).toEqual([200, '']);
  const json = await ask();
  expect([json.status, await json.json()]).toEqual([500, null]);
});

test('holds requests until they are released', async () => {
  const held = holds();
  api.reply(held, held);
  const responses = [ask(), ask()];
  await api.waitForRequests(2);
  expect(api.openResponses()).toBe(2);
  held.release(behaviours.sendsJson('go'));
  expect(await Promise.all(responses.map(async (response) => (await response).json()))).toEqual(['go', 'go']);
});

test('splits characters without losing any', async () => {
  api.reply(behaviours.inSlices(answers('富士山🗻', { chunks: 1 }), 5));
  const chunks: Uint8Array[] = [];
  for await (const bytes of (await ask()).body ?? []) chunks.push(bytes);
  expect(chunks.some((bytes) => new TextDecoder().decode(bytes).includes('\uFFFD'))).toBe(true);
  expect(Buffer.concat(chunks).toString()).toContain('"delta":"富士山🗻"');
});

test('abandons a delay when the client has closed', async () => {
  api.reply(answers('Late', { delayMs: 60_000 }));
  const client = new AbortController();
  const response = ask({}, client.signal);
  await api.waitForRequests(1);
  client.abort();
  await expect(response).rejects.toThrow();
  await api.waitForAbort(0);
});

test('closes with open requests, and reports none of them as aborted', async () => {
  api.reply(behaviours.neverAnswers(), holds());
  const responses = Promise.allSettled([ask(), ask()]);
  await api.waitForRequests(2);
  expect(api.openConnections()).toBe(2);
  await api.close();
  expect(api.openConnections()).toBe(0);
  expect((await responses).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(api.requests).toMatchObject([{ aborted: false }, { aborted: false }]);
});

describe('a background response', () => {
  const start = async (behaviour: behaviours.Behaviour): Promise<Response> => {
    api.reply(behaviour);
    return ask({ background: true });
  };
  const ID = apiId('resp', 1);
  const look = async (path = '') => (await fetch(`${api.url}/responses/${ID}${path}`)).json();
  const ANSWER = answers('Hello', { sources: [{ url: 'https://a.example/' }] });

  test('works until it is released, also without a connection, and can be resumed', async () => {
    const working = behaviours.works(ANSWER);
    const response = await start(working);
    expect(eventTypes(await readEvents(response, 2))).toEqual(['response.created', 'response.in_progress']);
    await response.body?.cancel().catch(() => {});
    expect(await look()).toMatchObject({ id: ID, status: 'in_progress', background: true, output: [] });
    const resumed = await fetch(`${api.url}/responses/${ID}?stream=true&starting_after=1`);
    working.release();
    const events = await resumed.text();
    expect(events).toMatch(/^event: response\.output_item\.added\ndata: .*"sequence_number":2\}/);
    expect(eventTypes(events).at(-1)).toBe('response.completed');
    const late = await fetch(`${api.url}/responses/${ID}?stream=true&starting_after=3`);
    expect(await late.text()).toMatch(/^event: .*\ndata: .*"sequence_number":4\}/);
    expect(await look()).toMatchObject({ id: ID, status: 'completed' });
    expect(JSON.stringify(await look())).not.toContain('a.example');
    expect(JSON.stringify(await look('?include[]=web_search_call.action.sources'))).toContain('a.example');
  });

  test('shows its items so far', async () => {
    await start(behaviours.works(ANSWER, 7));
    expect(await look()).toMatchObject({ status: 'in_progress', output: [{ type: 'web_search_call' }] });
  });

  test('can fail', async () => {
    const working = behaviours.works();
    const response = await start(working);
    working.release({ code: 'server_error', message: 'Sorry.' });
    expect(eventTypes(await response.text()).at(-1)).toBe('response.failed');
    expect(await look()).toMatchObject({ status: 'failed', error: { code: 'server_error', message: 'Sorry.' } });
  });

  test('can be cancelled, and then stays so', async () => {
    const working = behaviours.works();
    const response = await start(working);
    const cancelled = await fetch(`${api.url}/responses/${ID}/cancel`, { method: 'POST' });
    expect(await cancelled.json()).toMatchObject({ id: ID, status: 'cancelled' });
    expect(eventTypes(await response.text()).at(-1)).toBe('response.cancelled');
    working.release();
    expect(await look()).toMatchObject({ status: 'cancelled', output: [] });
  });

  test('works on after its stream was cut, until the test ends it', async () => {
    await (await start(behaviours.cutsStream(3, ANSWER))).text();
    expect(await look()).toMatchObject({ status: 'in_progress' });
    api.endResponses();
    expect(await look()).toMatchObject({ status: 'completed' });
  });

  test('has ended with its answer, and a look gets what the test queued first', async () => {
    await (await start(ANSWER)).text();
    api.replyToLooks(fails({ status: 503, error: { message: 'Later', type: 'x', param: null, code: null } }));
    expect(await look()).toMatchObject({ error: { message: 'Later' } });
    expect(await look()).toMatchObject({ status: 'completed' });
  });

  test('that was never sent is unknown', async () => {
    const response = await fetch(`${api.url}/responses/resp_x?include[]=a`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { message: "Response with id 'resp_x' not found." } });
  });
});
