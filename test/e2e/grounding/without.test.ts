import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SYSTEM_POLICY } from '../../../src/domain/answers/system-policy.ts';
import { says } from '../../support/conversation-items.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { newFile, newFolder } from '../files.ts';
import { answerOf, apiEnv, serve, tokyoToday } from '../serve.ts';
import { configFile, conversationApi, SEARCH_NOTES } from './kit.ts';

const QUESTION = 'What is MCP?';
const INPUT = `${QUESTION}\n\n[Search hints] recency_days=60; max_results=5\n[Today] ${tokyoToday()} (Asia/Tokyo)`;
/** The request of a program that knows no own tools. */
const BODY =
  `{"model":"gpt-5.2","instructions":${JSON.stringify(SYSTEM_POLICY)},"input":${JSON.stringify(INPUT)},` +
  '"tools":[{"type":"web_search","user_location":{"type":"approximate"}}],"include":["web_search_call.action.sources"],' +
  '"text":{"verbosity":"medium"},"reasoning":{"effort":"medium"},"store":false,"stream":true}';

/** Asks, and returns the request and the files of the program that were loaded. */
async function ask(...options: readonly string[]) {
  const api = await conversationApi();
  api.script([[says('1', 'A protocol.')]]);
  const list = path.join(newFolder(), 'loaded');
  const recorder = newFile(
    'record-loads.cjs',
    `const { _extensions } = require('node:module');
     const load = _extensions['.js'];
     _extensions['.js'] = (module, file) => {
       require('node:fs').appendFileSync(${JSON.stringify(list)}, require('node:path').basename(file) + '\\n');
       return load(module, file);
     };`,
  );
  const env = { ...apiEnv(api), NODE_OPTIONS: `--require=${recorder}` };
  const server = serve({ args: ['--stdio', ...options], env });
  await server.initialize();
  expect(answerOf(await server.callTool('answer', { query: QUESTION })).answer).toBe('A protocol.');
  const [first] = api.requests;
  return { rawBody: first?.rawBody, loaded: readFileSync(list, 'utf8').trim().split('\n') };
}

/** Only an answer with own tools needs these files. */
const OF_GROUNDING = /^(?:gateway\d*\.|tool-error|ajv|child-|remote-)/;

test('without grounding, the request has the same bytes as ever, and nothing of grounding or of servers is loaded', async () => {
  const { rawBody, loaded } = await ask();
  expect(rawBody).toBe(BODY);
  expect(loaded).toEqual(expect.arrayContaining(['main.js', 'services.js']));
  expect(loaded.filter((file) => OF_GROUNDING.test(file))).toEqual([]);
});

test('servers that no answer uses change nothing, and are not started', async () => {
  const notes = scriptedServer([SEARCH_NOTES]);
  for (const grounding of [{}, { tools: {} }, { web: 'never' }]) {
    const config = configFile({ notes, grounding });
    const { rawBody, loaded } = await ask('--config', config);
    expect(rawBody).toBe(BODY);
    expect(loaded.filter((file) => OF_GROUNDING.test(file))).toEqual([]);
  }
  expect(notes.events()).toEqual([]);
});

test('with grounding, these files are loaded', async () => {
  const { rawBody, loaded } = await ask('--config', configFile({ notes: scriptedServer([SEARCH_NOTES]) }));
  expect(rawBody).not.toBe(BODY);
  expect(loaded.filter((file) => OF_GROUNDING.test(file))).toEqual(expect.arrayContaining(['ajv-schema-validator.js']));
});
