import { describe, expect, test } from 'vitest';
import { answers, fails, holds, neverAnswers } from '../support/behaviours.ts';
import { isRunning } from '../support/process-tree.ts';
import { newFile } from './files.ts';
import { type ClientProgress, OFFICIAL_CLIENTS } from './official-clients.ts';
import { type AnswerJson, fakeApi } from './serve.ts';

const limited = fails({
  status: 429,
  error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  headers: { 'retry-after': '1' },
});
const refused = fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } });

describe.each(OFFICIAL_CLIENTS)('the official client %s', (_, connect) => {
  test('connects, receives instructions, lists and calls each tool, also in parallel', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    expect(client.getServerVersion()?.name).toBe('openai-responses-mcp');
    const instructions = client.getInstructions() ?? '';
    for (const word of ['answer_quick', 'answer_detailed', 'Do not add a year']) expect(instructions).toContain(word);

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['answer', 'answer_detailed', 'answer_quick']);
    for (const { annotations } of tools) {
      expect(annotations).toEqual({
        title: expect.stringMatching(/answer/i),
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      });
    }

    api.replyAlways(answers('東京は晴れです。', { citations: [{ url: 'https://tenki.jp/', title: 'tenki.jp' }] }));
    for (const { name } of tools) {
      const answer = toAnswer(await client.callTool(name, '本日の東京の天気は？'));
      expect(answer).toMatchObject({ used_search: true, model: 'gpt-5.2', citations: [{ url: 'https://tenki.jp/' }] });
      expect(answer.answer).toMatch(/^東京は晴れです。\n\nSources:\n/);
    }

    const before = api.requests.length;
    const slow = holds();
    api.replyWith(({ body }) => (String(body.input).startsWith('slow') ? slow : answers('Quick.')));
    const first = client.callTool('answer', 'slow');
    await api.waitForRequests(before + 1);
    expect(toAnswer(await client.callTool('answer', 'quick')).answer).toBe('Quick.');
    slow.release(answers('Slow.'));
    expect(toAnswer(await first).answer).toBe('Slow.');
    expect(complaints).toEqual([]);
  });

  test('cancels a call, whose request upstream is aborted, and receives the message of a failure', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    api.replyAlways(neverAnswers());
    const cancelling = new AbortController();
    const call = client.callTool('answer', 'q', { signal: cancelling.signal });
    const rejected = expect(call).rejects.toThrow();
    await api.waitForRequests(1);
    cancelling.abort('changed my mind');
    await rejected;
    await api.waitForAbort(0);
    expect((await client.listTools()).tools).toHaveLength(3);
    expect(complaints).toEqual([]);

    api.replyAlways(
      fails({
        status: 401,
        error: { message: 'No.', type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
      }),
    );
    const outcome = await client
      .callTool('answer', 'q')
      .then(JSON.stringify, ({ code, message, data }) => JSON.stringify({ code, message, data }));
    expect(outcome).toContain('answer failed');
    expect(outcome).toContain('OPENAI_API_KEY');
  });

  test('pings and closes, and the server exits at once', async () => {
    const api = await fakeApi();
    const { client, complaints, pid } = await connect(api);
    // The protocol of 2026-07-28 has no ping: the client itself refuses it.
    await client.ping().catch((error: unknown) => expect(String(error)).toMatch(/METHOD_NOT_SUPPORTED|not supported/i));
    expect(isRunning(pid)).toBe(true);
    const startedAt = performance.now();
    await client.close();
    // Clients wait 2 s after the end of input before they kill the server.
    expect(performance.now() - startedAt).toBeLessThan(1800);
    expect(isRunning(pid)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('receives progress, which extends the timeout of a call', async () => {
    const api = await fakeApi();
    api.reply(limited, limited, answers('At last.'));
    const { client, complaints } = await connect(api);
    const received: ClientProgress[] = [];
    const result = await client.callTool('answer', 'q', {
      timeout: 1900,
      resetTimeoutOnProgress: true,
      onprogress: (progress) => void received.push(progress),
    });
    expect(result.structuredContent).toMatchObject({ answer: 'At last.' });
    expect(received.map(({ progress }) => progress)).toEqual(received.map((_, index) => index + 1));
    expect(received.map(({ message }) => message).join('\n')).toMatch(
      /^(?:Asking the model.*\n)+Rate limited; retrying in 1 s\n(?:Asking the model.*\n)*Rate limited; retrying in 1 s/,
    );
    for (const progress of received) expect(progress).not.toHaveProperty('total');
    expect(complaints).toEqual([]);
  });

  test('cancels a call at its timeout, and the request upstream is aborted', async () => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { client, complaints } = await connect(api);
    await expect(client.callTool('answer', 'q', { timeout: 300, onprogress: () => {} })).rejects.toThrow(/time/i);
    expect((await client.listTools()).tools).toHaveLength(3);
    // A call that is cancelled while the program still loads never reaches the API.
    await api.until(() => api.requests.every(({ aborted }) => aborted));
    // Progress that crosses the cancellation on its way is no error of the program.
    expect(
      complaints.filter((complaint) => !/progress notification for an unknown token/.test(String(complaint))),
    ).toEqual([]);
  });

  test('accepts the results of each tool against its output schema', async () => {
    const api = await fakeApi();
    const { client, complaints } = await connect(api);
    const { tools } = await client.listTools();
    expect(tools.map(({ outputSchema }) => outputSchema === undefined)).toEqual([false, false, false]);
    const replies = [
      answers('Sunny.', { citations: [{ url: 'https://tenki.jp/', title: '天気' }] }),
      answers('No search.'),
      answers('An id.', { sources: [{ name: 'oai-weather' }] }),
      answers('', { refusal: 'I will not.' }),
      answers('Cut', { incomplete: 'max_output_tokens' }),
    ];
    for (const { name } of tools) {
      for (const [index, reply] of replies.entries()) {
        api.reply(reply);
        const result = await client.callTool(name, `question ${index}`);
        const [content] = result.content as { type: string; text: string }[];
        expect(result.structuredContent).toEqual(JSON.parse(content?.text ?? ''));
      }
    }
    expect(complaints).toEqual([]);
  });

  test('accepts a failure, which has no structured content', async () => {
    const api = await fakeApi();
    api.replyAlways(refused);
    const config = newFile('config.yaml', 'server: {tool_errors: result}\n');
    const { client } = await connect(api, '--config', config);
    await client.listTools();
    const result = await client.callTool('answer', 'q');
    expect(result.isError).toBe(true);
    expect(result).not.toHaveProperty('structuredContent');
    expect(JSON.stringify(result.content)).toContain('answer failed: The API denied access');
  });
});

function toAnswer({ content, isError }: Record<string, unknown>): AnswerJson {
  expect(isError ?? false).toBe(false);
  const [first] = content as { type: string; text: string }[];
  return JSON.parse(first?.text ?? '') as AnswerJson;
}
