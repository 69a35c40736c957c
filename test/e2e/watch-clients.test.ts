import * as v2 from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioTransportV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioTransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answers, fails, neverAnswers } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { newFile, newFolder } from './files.ts';
import { apiEnv, BUILT_PROGRAM, fakeApi } from './serve.ts';

interface Heard {
  readonly progress: number;
  readonly message?: string | undefined;
}

interface CallOptions {
  readonly timeout?: number;
  readonly resetTimeoutOnProgress?: boolean;
  readonly onprogress?: (progress: Heard) => void;
}

/** What the tests need of an official client, whichever it is. */
interface OfficialClient {
  listTools(): Promise<{ tools: readonly ToolShown[] }>;
  callTool(name: string, query: string, options?: CallOptions): Promise<Record<string, unknown>>;
  getInstructions(): string | undefined;
}

interface ToolShown {
  readonly name: string;
  readonly annotations?: object | undefined;
  readonly outputSchema?: object | undefined;
}

interface Connected {
  readonly client: OfficialClient;
  /** What the client complained of, such as progress under a token that it does not know. */
  readonly complaints: unknown[];
}

const CLIENT_INFO = { name: 'e2e', version: '1.0.0' };

const serverParameters = (api: FakeApi, args: readonly string[]) => ({
  command: process.execPath,
  args: [BUILT_PROGRAM, '--stdio', ...args],
  env: { PATH: process.env.PATH ?? '', HOME: newFolder(), ...apiEnv(api) },
  stderr: 'pipe' as const,
});

async function connectV1(api: FakeApi, ...args: readonly string[]): Promise<Connected> {
  const client = new ClientV1(CLIENT_INFO);
  const complaints: unknown[] = [];
  client.onerror = (error) => void complaints.push(error);
  await client.connect(new StdioTransportV1(serverParameters(api, args)));
  onTestFinished(() => client.close());
  return {
    client: {
      listTools: () => client.listTools(),
      callTool: (name, query, options) => client.callTool({ name, arguments: { query } }, undefined, options),
      getInstructions: () => client.getInstructions(),
    },
    complaints,
  };
}

const connectV2 =
  (mode: 'legacy' | 'auto') =>
  async (api: FakeApi, ...args: readonly string[]): Promise<Connected> => {
    const client = new v2.Client(CLIENT_INFO, { versionNegotiation: { mode } });
    const complaints: unknown[] = [];
    client.onerror = (error) => void complaints.push(error);
    await client.connect(new StdioTransportV2(serverParameters(api, args)));
    onTestFinished(() => client.close());
    return {
      client: {
        listTools: () => client.listTools(),
        callTool: (name, query, options) => client.callTool({ name, arguments: { query } }, options),
        getInstructions: () => client.getInstructions(),
      },
      complaints,
    };
  };

const limited = fails({
  status: 429,
  error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
  headers: { 'retry-after': '1' },
});
const refused = fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } });

describe.each([
  ['v1', connectV1],
  ['v2', connectV2('legacy')],
  ['v2 in mode auto', connectV2('auto')],
] as const)('the official client %s', (_, connect) => {
  test('hears of progress, which keeps a call alive beyond its time-out', async () => {
    const api = await fakeApi();
    api.reply(limited, limited, answers('At last.'));
    const { client, complaints } = await connect(api);
    const heard: Heard[] = [];
    const result = await client.callTool('answer', 'q', {
      timeout: 1700,
      resetTimeoutOnProgress: true,
      onprogress: (progress) => void heard.push(progress),
    });
    expect(result.structuredContent).toMatchObject({ answer: 'At last.' });
    expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_, index) => index + 1));
    expect(heard.map(({ message }) => message).join('\n')).toMatch(
      /^Asking the model\nThe API limits the rate; trying again in 1 s\nThe API limits the rate; trying again in 1 s/,
    );
    for (const progress of heard) expect(progress).not.toHaveProperty('total');
    expect(complaints).toEqual([]);
  });

  test('hears of what was told just before the answer', async () => {
    const api = await fakeApi();
    api.replyAlways(answers('Sunny.', { search: 'tokyo weather' }));
    const { client, complaints } = await connect(api);
    const heard: number[] = [];
    const calls = Array.from({ length: 40 }, (_, call) => call);
    for (const call of calls) {
      const onprogress = ({ message }: Heard) => {
        if (message === 'Searched: tokyo weather') heard.push(call);
      };
      await client.callTool('answer', `question ${call}`, { onprogress });
    }
    expect(complaints).toHaveLength(0);
    expect(heard).toEqual(calls);
  });

  test('whose time-out is over is answered no more, and the request upstream is aborted', async () => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { client, complaints } = await connect(api);
    await expect(client.callTool('answer', 'q', { timeout: 300, onprogress: () => {} })).rejects.toThrow(/time/i);
    expect((await client.listTools()).tools).toHaveLength(3);
    // A call that is cancelled while the program still loads never gets there.
    await api.until(() => api.requests.every(({ aborted }) => aborted));
    expect(complaints).toEqual([]);
  });

  test('accepts each tool’s result by the schema that it was told', async () => {
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

  test('gets no structured content with a failure, and accepts it', async () => {
    const api = await fakeApi();
    api.replyAlways(refused);
    const config = newFile('config.yaml', 'server: {tool_errors: result}\n');
    const { client } = await connect(api, '--config', config);
    await client.listTools();
    const result = await client.callTool('answer', 'q');
    expect(result.isError).toBe(true);
    expect(result).not.toHaveProperty('structuredContent');
    expect(JSON.stringify(result.content)).toContain('answer failed: The API refused access');
  });

  test('is told when to take which tool, and what they do to the world', async () => {
    const { client } = await connect(await fakeApi());
    const instructions = client.getInstructions() ?? '';
    for (const word of ['answer_quick', 'answer_detailed', 'Do not add a year']) expect(instructions).toContain(word);
    const { tools } = await client.listTools();
    for (const { annotations } of tools) {
      expect(annotations).toEqual({
        title: expect.stringMatching(/answer/i),
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      });
    }
  });
});
