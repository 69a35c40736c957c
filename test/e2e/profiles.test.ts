import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { answerOf, ROOT, serveWithApi } from './serve.ts';

const TOOLS = ['answer', 'answer_detailed', 'answer_quick'] as const;
const EXAMPLE = path.join(ROOT, 'config', 'config.yaml.example');

/** The request of each tool to the API. */
function asked(...args: readonly string[]) {
  return askedWith({ args: ['--stdio', ...args] });
}

async function askedWith(options: Parameters<typeof serveWithApi>[0]) {
  const { api, server } = await serveWithApi(options);
  api.replyAlways(answers('Yes.'));
  for (const tool of TOOLS) answerOf(await server.callTool(tool, { query: 'q' }));
  return api.requests.map(({ body }) => ({
    model: body.model,
    effort: (body.reasoning as { effort?: string } | undefined)?.effort,
    verbosity: (body.text as { verbosity?: string } | undefined)?.verbosity,
    contextSize: (body.tools as { search_context_size?: string }[])[0]?.search_context_size,
    maxToolCalls: body.max_tool_calls,
  }));
}

const STANDARD = { model: 'gpt-5.2', effort: 'medium', verbosity: 'medium' };

describe('answer_detailed and answer_quick', () => {
  test('use the profile of answer if nothing is configured', async () => {
    expect(await asked()).toEqual([STANDARD, STANDARD, STANDARD]);
  });

  test('use the configured profile of answer', async () => {
    const config = newFile(
      'c.yaml',
      'model_profiles: {answer: {model: gpt-5.1, reasoning_effort: high, max_tool_calls: 9}}\n',
    );
    const each = { ...STANDARD, model: 'gpt-5.1', effort: 'high', maxToolCalls: 9 };
    expect(await asked('--config', config)).toEqual([each, each, each]);
  });

  test('complete their profile from that of answer', async () => {
    const config = newFile('c.yaml', 'model_profiles: {answer_quick: {reasoning_effort: low}}\n');
    expect(await asked('--config', config)).toEqual([STANDARD, STANDARD, { ...STANDARD, effort: 'low' }]);
  });

  test('are quick and detailed with one variable, which changes no model', async () => {
    const env = { MODEL_PROFILES: 'tuned', MODEL_ANSWER: 'gpt-5.4' };
    expect(await askedWith({ env })).toEqual([
      { ...STANDARD, model: 'gpt-5.4' },
      { model: 'gpt-5.4', effort: 'high', verbosity: 'high', contextSize: 'high', maxToolCalls: 30 },
      { model: 'gpt-5.4', effort: 'low', verbosity: 'low', contextSize: 'low', maxToolCalls: 3 },
    ]);
  });

  test('answer with the model of their profile', async () => {
    const config = newFile('c.yaml', 'model_profiles: {answer_quick: {model: gpt-5-mini}}\n');
    const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config] });
    api.replyAlways(answers('Yes.'));
    expect(answerOf(await server.callTool('answer_quick', { query: 'q' })).model).toBe('gpt-5-mini');
    expect(answerOf(await server.callTool('answer_detailed', { query: 'q' })).model).toBe('gpt-5.2');
  });
});

describe('the example configuration', () => {
  test('is valid', async () => {
    const { code, stderr } = await runCli(['--show-config', '--config', EXAMPLE]);
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({ sources: { yaml: EXAMPLE } });
  });

  test('tunes each tool: quick does less than the standard, detailed more', async () => {
    expect(await asked('--config', EXAMPLE)).toEqual([
      STANDARD,
      { ...STANDARD, effort: 'high', verbosity: 'high', contextSize: 'high', maxToolCalls: 30 },
      { ...STANDARD, effort: 'low', verbosity: 'low', contextSize: 'low', maxToolCalls: 3 },
    ]);
  });

  test('gives a reason above each of these keys', () => {
    const lines = readFileSync(EXAMPLE, 'utf8').split('\n');
    for (const tool of ['answer_detailed', 'answer_quick']) {
      const from = lines.indexOf(`  ${tool}:`);
      for (const setting of ['model', 'reasoning_effort', 'verbosity', 'search_context_size', 'max_tool_calls']) {
        const at = lines.findIndex((line, index) => index > from && line.trim().startsWith(`${setting}:`));
        expect(lines[at - 1], `${tool}.${setting}`).toMatch(/^ {4}# [A-Z].+\.$/);
      }
    }
  });

  test('has its profiles in the docs too', () => {
    const files = ['README.md', ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })]
      .filter((name) => name.endsWith('.md'))
      .map((name) => path.join(ROOT, name === 'README.md' ? '' : 'docs', name));
    const shown = files.filter((file) => {
      const text = readFileSync(file, 'utf8');
      return TUNED.every((words) => words.test(text));
    });
    expect(shown).not.toEqual([]);
  });
});

const TUNED = [
  /answer_quick[\s\S]{0,900}search_context_size.{0,9}low/,
  /answer_detailed[\s\S]{0,900}search_context_size.{0,9}high/,
];
