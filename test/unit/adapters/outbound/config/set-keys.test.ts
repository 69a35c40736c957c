import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reporter } from '../../../../../src/adapters/outbound/config/problems.ts';
import { readEnvironment } from '../../../../../src/adapters/outbound/config/set-keys.ts';
import { toTree } from '../../../../../src/adapters/outbound/config/table.ts';
import type { Environment } from '../../../../../src/adapters/outbound/network/environment.ts';
import type { ConfigProblem } from '../../../../../src/application/ports/config.ts';

/** The values as in YAML. */
function read(environment: Environment) {
  const problems: ConfigProblem[] = [];
  const { values, names } = readEnvironment(environment, reporter(problems));
  return { tree: toTree(values), names, problems };
}

describe('variables', () => {
  test.each([
    ['OPENAI_API_TIMEOUT', '1000', { request: { timeout_ms: 1000 } }],
    ['MODEL_ANSWER', 'gpt-5.1-codex', { model_profiles: { answer: { model: 'gpt-5.1-codex' } } }],
    ['ANSWER_EFFORT', 'None', { model_profiles: { answer: { reasoning_effort: 'none' } } }],
    ['OPENAI_BASE_URL', 'https://eu.api.openai.com/v1/', { openai: { base_url: 'https://eu.api.openai.com/v1' } }],
    ['MCP_LINE_MODE', ' 1 ', { server: { line_mode: true } }],
    ['MCP_LINE_MODE', '0', { server: { line_mode: false } }],
    ['MAX_CITATIONS', ' 7\n', { policy: { max_citations: 7 } }],
    ['MCP_HTTP_TOKEN_ENV', 'alice=TA, bob= TB', { http: { token_env: { alice: 'TA', bob: 'TB' } } }],
  ])('%s=%j is %j', (name, text, tree) => {
    expect(read({ [name]: text })).toEqual({ tree, names: [name], problems: [] });
  });

  test.each([
    ['OPENAI_API_TIMEOUT', '0', 'an integer of milliseconds, 1 or greater'],
    ['OPENAI_API_TIMEOUT', '1e3', 'an integer of milliseconds, 1 or greater'],
    ['OPENAI_API_TIMEOUT', '9'.repeat(400), 'an integer of milliseconds, 1 or greater'],
    ['MAX_CITATIONS', '11', 'an integer from 1 to 10'],
    ['MODEL_ANSWER', 'gpt 5', 'a model ID, such as gpt-5.2'],
    ['LLM_ADAPTER', 'anthropic', 'one of openai, offline'],
    ['MCP_LINE_MODE', 'lines', 'true or false'],
    [
      'OPENAI_BASE_URL',
      'api.openai.com',
      'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
    ],
  ])('%s=%s is a problem that names the variable', (name, value, accepted) => {
    expect(read({ [name]: value })).toEqual({
      tree: {},
      names: [],
      problems: [{ where: name, value, message: `expected ${accepted}` }],
    });
  });

  // S3
  test.each(['', ' ', '\n', undefined])('a variable that contains %j is absent', (nothing) => {
    expect(read({ MAX_CITATIONS: nothing, MODEL_ANSWER: nothing, DEBUG: nothing })).toEqual({
      tree: {},
      names: [],
      problems: [],
    });
  });

  test('of other programs are ignored', () => {
    expect(read({ PATH: '/bin', DEBUG: 'express:*', MODEL_ANSWER_QUICK: 'x' }).names).toEqual([]);
  });
});

test.each(['q3J7+abc/def=', 'alice=s3cret'])(
  'a token in the place of the name of its variable is not shown: %s',
  (token) => {
    const { tree, problems } = read({ MCP_HTTP_TOKEN_ENV: token });
    expect(JSON.stringify(problems)).not.toContain(token);
    expect(problems.length === 0 || tree.http === undefined).toBe(true);
  },
);

describe('DEBUG', () => {
  test.each([
    ['1', { debug: true }],
    ['TRUE', { debug: true }],
    ['0', { debug: false }],
    ['/tmp/mcp.log', { debug: true, debug_file: '/tmp/mcp.log' }],
    ['logs/debug', { debug: true, debug_file: resolve('logs/debug') }],
    ['C:\\logs\\debug.txt', { debug: true, debug_file: resolve('C:\\logs\\debug.txt') }],
    ['mcp.log', { debug: true, debug_file: resolve('mcp.log') }],
  ])('%s means %j', (value, server) => {
    expect(read({ DEBUG: value }).tree).toEqual({ server });
  });

  test.each(['express:*', 'yes', 'log'])('%s belongs to another program', (value) => {
    expect(read({ DEBUG: value })).toEqual({ tree: {}, names: [], problems: [] });
  });
});
