import { cpSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { runCli } from '../support/mcp-process.ts';
import { newFolder } from './files.ts';
import { configure } from './gateway/servers.ts';
import { apiEnv, fakeApi, ROOT, serve, textOf } from './serve.ts';

const MESSAGE =
  'A file of this program is missing: it was updated while it ran, or its installation is incomplete. Restart it; if that does not help, install it again.';
const QUESTION = { query: 'What does HTTP 404 mean?' };

/** A copy of the built program, of which a file can be removed and restored while it runs. */
function newProgram() {
  const folder = path.join(newFolder(), 'build');
  cpSync(path.join(ROOT, 'build'), folder, { recursive: true });
  const chunk = (name: string) => path.join(folder, 'chunks', `${name}.js`);
  return {
    program: path.join(folder, 'index.js'),
    remove: (name: string) => renameSync(chunk(name), `${chunk(name)}.old`),
    restore: (name: string) => renameSync(`${chunk(name)}.old`, chunk(name)),
  };
}

describe('a file that is missing after an update', () => {
  test('makes the list of tools fail, but not the process, and the next list tries again', async () => {
    const { program, remove, restore } = newProgram();
    remove('gateway');
    const server = serve({
      program,
      args: ['--stdio', '--offline', '--expose', '--config', configure(['one']).config],
    });
    await server.initialize();
    expect(await server.request('tools/list')).toMatchObject({ error: { code: -32603, message: MESSAGE } });
    expect(await server.request('ping')).toMatchObject({ result: {} });
    expect(textOf(await server.callTool('answer', QUESTION))).toContain('404');
    restore('gateway');
    const { result } = await server.request('tools/list');
    expect(JSON.stringify(result)).toContain('one__echo');
    expect(server.stderr()).toMatch(/^\S+ \S+ ERROR internal error in tools\/list: Error: Cannot find module/);
  });

  test.each(['services', 'answer-presentation', 'offline-search'])(
    'makes a question fail, but not the process, and the next question tries again: %s',
    async (name) => {
      const { program, remove, restore } = newProgram();
      remove(name);
      const server = serve({ program, args: ['--stdio', '--offline'] });
      await server.initialize();
      const meta = { progressToken: 1 };
      expect(await server.callTool('answer', QUESTION, meta)).toMatchObject({
        error: { code: -32603, message: MESSAGE },
      });
      expect(await server.request('ping')).toMatchObject({ result: {} });
      restore(name);
      expect(textOf(await server.callTool('answer', QUESTION, meta))).toContain('404');
    },
  );

  test('makes a call over REST fail, but not the process', async () => {
    const { program, remove, restore } = newProgram();
    const http = await startHttpProcess({ program, args: ['--http=127.0.0.1:0', '--offline'] });
    remove('ajv-schema-validator');
    const call = () =>
      send(new URL('/mcp/call', http.url).href, {
        body: { server: 'openai-responses-mcp', toolName: 'answer', input: QUESTION },
      });
    const { status, text } = await call();
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'INTERNAL_ERROR', message: MESSAGE } });
    restore('ajv-schema-validator');
    expect((await call()).status).toBe(200);
  });

  test('is reported by a command', async () => {
    const { program, remove } = newProgram();
    remove('services');
    expect(await runCli(['ask', '--offline', QUESTION.query], { program })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `openai-responses-mcp: ${MESSAGE}\n`,
    });
  });
});

test('answers that take minutes load files of their own, which no other answer needs', async () => {
  const { program, remove } = newProgram();
  for (const name of ['long-response', 'long-answers', 'openai-started-responses', 'hmac-handle-signer']) remove(name);
  const api = await fakeApi();
  api.replyAlways(answers('Not found.'));
  const ask = (env: Record<string, string>) =>
    serve({ program, env: { ...apiEnv(api), ...env } }).callTool('answer_detailed', QUESTION);
  expect(textOf(await ask({}))).toContain('Not found.');
  expect(await ask({ LONG_ANSWERS: 'answer_detailed' })).toMatchObject({ error: { code: -32603 } });
});
