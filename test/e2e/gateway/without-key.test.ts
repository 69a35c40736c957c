import { expect, test } from 'vitest';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/run-cli.ts';
import { serve } from '../serve.ts';
import { configure } from './servers.ts';

const NOTICE = /No API key: the answer tools are not offered\. .* To offer answers, set OPENAI_API_KEY\./g;
const NO_KEY = { OPENAI_API_KEY: '' };

// S62
test('without a key, a gateway on stdio offers the tools of its servers only, and says so once', async () => {
  const { config } = configure(['one']);
  const server = serve({ args: ['--stdio', '--expose', '--config', config], env: NO_KEY });
  const { result } = await server.initialize();
  expect(result).not.toHaveProperty('instructions');
  // The list would not wait for a slow start.
  await server.callTool('one__echo', { message: 'a' });
  const listed = (await server.request('tools/list')).result as {
    readonly tools: readonly { readonly name: string }[];
  };
  expect(listed.tools.map(({ name }) => name)).toContain('one__echo');
  expect(listed.tools.filter(({ name }) => !name.startsWith('one__'))).toEqual([]);
  expect((await server.callTool('answer', { query: 'q' })).error).toMatchObject({ code: -32601 });
  await expect.poll(() => server.stderr().match(NOTICE)).toHaveLength(1);
});

test('the same over HTTP, where nothing about the key is wrong', async () => {
  const { config } = configure(['one']);
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env: NO_KEY });
  const get = async (path: string) => (await (await fetch(new URL(path, http.url))).json()) as object;
  expect(JSON.stringify(await get('/mcp/tools'))).not.toContain('openai-responses-mcp');
  expect(JSON.stringify(await get('/openapi.json'))).not.toContain('answer_quick');
  expect(await get('/mcp/servers')).not.toHaveProperty('canAnswer');
  await expect.poll(() => http.stderr().match(NOTICE)).toHaveLength(1);
  expect(http.stderr()).not.toContain('answers will fail');
});

test('doctor finds nothing wrong with it; a question still says what is missing', async () => {
  const { config } = configure(['one']);
  const doctor = await runCli(['doctor', '--config', config], { env: NO_KEY });
  expect(doctor).toMatchObject({ code: 0, stderr: '' });
  expect(doctor.stdout).toMatch(/^note {2}key: OPENAI_API_KEY is not set, so the answer tools are not offered; /m);
  expect(doctor.stdout).not.toContain('connection');
  const asked = await runCli(['ask', 'q', '--config', config], { env: NO_KEY });
  expect(asked).toMatchObject({ code: 1, stderr: expect.stringMatching(/^No API key: /) });
});
