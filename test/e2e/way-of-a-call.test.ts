import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { expect } from 'vitest';
import { sendsBody } from '../support/behaviours.ts';
import { posixTest } from '../support/platform.ts';
import { until } from '../support/until.ts';
import { newFolder } from './files.ts';
import { ROOT, serveWithApi, textOf } from './serve.ts';

/** The functions that pass a question over stdio on or act on it, in the order in which it comes to them. */
const WAY: readonly (readonly [file: string, name: string])[] = [
  ['adapters/inbound/stdio/stdio-transport', '#onRead'],
  ['adapters/inbound/stdio/message-reader', 'push'],
  ['adapters/inbound/mcp/session', 'receive'],
  ['adapters/inbound/mcp/session', '#startOf'],
  ['adapters/inbound/mcp/session', '#run'],
  ['adapters/inbound/mcp/exposed-tools', 'call'],
  ['adapters/inbound/mcp/client-call', 'callForClient'],
  ['application/tools/tool-catalogue', 'call'],
  ['application/tools/tool-catalogue', '#callAllowed'],
  ['application/answers/answer-provider', 'call'],
  ['application/answers/answer-query', 'execute'],
  ['application/answers/answer-query', '#answer'],
  ['application/answers/coalescing-search', 'search'],
  ['application/answers/coalescing-search', '#run'],
  ['adapters/outbound/openai/openai-responses-search', 'search'],
  ['adapters/outbound/openai/openai-responses-search', '#ask'],
  ['adapters/outbound/openai/attempts', 'send'],
  ['adapters/outbound/openai/attempts', '#read'],
  ['adapters/outbound/openai/response-reader', 'readResponse'],
  ['adapters/outbound/openai/api-client', 'ask'],
  ['adapters/outbound/openai/response-reader', 'readStream'],
  ['adapters/outbound/openai/response-events', 'take'],
];

/**
 * As measured with Node.js 20, for a question with a recorded reply. Of the files, 11 are about the API, 10 about the answer (`domain/answers` and
 * `application/answers`), 8 about MCP over stdio.
 */
const MAX_FILES = 52;
/** 335 were counted; other versions of Node.js may count the initializers of classes differently. */
const MAX_FUNCTIONS = 340;

/** Loads packages, and makes what later questions share. */
const WARM_UP_CALLS = 3;

posixTest('moreSignals')('a question over stdio goes through few functions and files', async () => {
  const program = await buildByFile();
  const { api, server } = await serveWithApi({
    program: path.join(program, 'main.mjs'),
    env: { NODE_OPTIONS: `--import=${pathToFileURL(`${ROOT}/test/support/count-functions.js`).href}` },
  });
  const body = readFileSync(`${ROOT}/recordings/answer-tokyo-weather-en.sse`);
  api.replyAlways(sendsBody({ status: 200, headers: { 'content-type': 'text/event-stream' }, body }));
  await server.initialize();
  const ask = async () => {
    expect(textOf(await server.callTool('answer', { query: 'What is the weather today?' }))).toContain('Tokyo');
  };
  const ranNow = async () => {
    const reports = () => [...server.stderr().matchAll(/^ran (.*)\n/gm)].map(([, json = '']) => json);
    const before = reports().length;
    server.kill('SIGUSR2');
    await until(() => reports().length > before);
    const ran: readonly (readonly [string, readonly string[]])[] = JSON.parse(reports().at(-1) ?? '');
    const files = ran.filter(([url]) => url.startsWith('file:'));
    const own = (file: string) => path.relative(program, fileURLToPath(file)).replace(/\.mjs$/, '');
    return new Map(
      files.map(([file, names]) => [own(file), names] as const).filter(([file]) => !file.startsWith('..')),
    );
  };
  for (let count = 0; count < WARM_UP_CALLS; count += 1) await ask();
  await ranNow();
  await ask();
  const ran = await ranNow();
  expect(WAY.filter(([file, name]) => !ran.get(file)?.includes(name))).toEqual([]);
  expect(ran.size).toBeLessThanOrEqual(MAX_FILES);
  expect([...ran.values()].flat().length).toBeLessThanOrEqual(MAX_FUNCTIONS);
});

/** The program with a file for each of its source files, so that what runs is known by its names. */
async function buildByFile(): Promise<string> {
  const folder = realpathSync(newFolder());
  const bundle = await rolldown({
    cwd: ROOT,
    input: 'src/main.ts',
    platform: 'node',
    resolve: { mainFields: ['es2015', 'module', 'main'] },
    logLevel: 'warn',
  });
  await bundle.write({ dir: folder, format: 'es', preserveModules: true, entryFileNames: '[name].mjs' });
  await bundle.close();
  return path.join(folder, 'src');
}
