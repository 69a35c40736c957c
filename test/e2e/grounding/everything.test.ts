import path from 'node:path';
import { expect, test } from 'vitest';
import { calls, cites, reasons, says } from '../../support/conversation-items.ts';
import { runCli } from '../../support/run-cli.ts';
import { apiEnv, ROOT } from '../serve.ts';
import { configFile, conversationApi } from './kit.ts';

const EVERYTHING = path.join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');

test('every kind of result of the reference server reaches the model, in the order of the calls', async () => {
  const api = await conversationApi();
  api.script([
    [
      reasons('1'),
      calls('image', 'everything__get-tiny-image'),
      calls('links', 'everything__get-resource-links', { count: 2 }),
      calls('structured', 'everything__get-structured-content', { location: 'Chicago' }),
      calls('sum', 'everything__get-sum', { a: 2, b: 40 }),
      calls('invalid', 'everything__get-sum', { a: 'two' }),
      calls('unknown', 'everything__gzip-file-as-resource'),
      calls('parallel', 'parallel', {
        tool_uses: [
          { recipient_name: 'functions.everything__echo', parameters: { message: 'one' } },
          { recipient_name: 'functions.everything__echo', parameters: { message: 'two' } },
        ],
      }),
      calls('broken', 'everything__echo', '{"message": "cut'),
    ],
    [says('2', `It is 42.${cites('turn3tool0')}`)],
  ]);
  const servers = [{ name: 'everything', command: process.execPath, args: [EVERYTHING] }];
  const config = configFile({ grounding: { tools: { everything: 'all' } }, more: { servers } });
  const { code, stdout, stderr } = await runCli(['ask', '--json', '--config', config, 'What?'], { env: apiEnv(api) });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(api.refusals).toEqual([]);

  const { answer, citations, used_search, report } = JSON.parse(stdout) as Record<string, unknown>;
  expect(answer).toMatch(
    /^It is 42\. \[everything\/get-sum\]\n\nSources:\n- everything\/get-sum \(\d{4}-\d{2}-\d{2}\)$/,
  );
  expect(citations).toMatchObject([{ url: 'everything/get-sum' }]);
  expect(used_search).toBe(false);
  expect(report).toMatchObject({ rounds: 2 });

  const input = api.requests[1]?.body.input as readonly { call_id?: string; type?: string; output?: unknown }[];
  const outputs = input.filter(({ type }) => type === 'function_call_output');
  expect(outputs.map(({ call_id: id, output }) => [id, output])).toEqual([
    [
      'call_image',
      [
        { type: 'input_text', text: expect.stringContaining('everything/get-tiny-image') },
        { type: 'input_image', detail: 'auto', image_url: expect.stringMatching(/^data:image\/png;base64,/) },
      ],
    ],
    [
      'call_links',
      expect.stringMatching(/^\[Output of the tool everything\/get-resource-links.*\n.*turn1tool0.*demo:\/\//),
    ],
    ['call_structured', expect.stringMatching(/\{"temperature":\d+,"conditions":"[^"]+","humidity":\d+\}$/)],
    ['call_sum', expect.stringContaining('The sum of 2 and 40 is 42.')],
    ['call_invalid', expect.stringMatching(/^error: The input does not match the tool's schema/)],
    ['call_unknown', expect.stringMatching(/^error: .*everything__gzip-file-as-resource/)],
    ['call_parallel', expect.stringMatching(/Echo: one[\s\S]*Echo: two/)],
    ['call_broken', expect.stringMatching(/^error: .*JSON object/)],
  ]);
});
