import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toTree } from '../../../../../src/adapters/outbound/config/config-tree.ts';
import { reporter } from '../../../../../src/adapters/outbound/config/problems.ts';
import { readEnvironment } from '../../../../../src/adapters/outbound/config/set-keys.ts';
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
    ['OPENAI_MAX_RETRIES', '0', { request: { max_retries: 0 } }],
    ['SEARCH_RECENCY_DAYS', '0', { search: { defaults: { recency_days: 0 } } }],
    ['SEARCH_MAX_RESULTS', '9', { search: { defaults: { max_results: 9 } } }],
    ['MAX_CITATIONS', '10', { policy: { max_citations: 10 } }],
    ['MODEL_ANSWER', 'gpt-5.1-codex', { model_profiles: { answer: { model: 'gpt-5.1-codex' } } }],
    ['ANSWER_EFFORT', 'xhigh', { model_profiles: { answer: { reasoning_effort: 'xhigh' } } }],
    ['ANSWER_EFFORT', 'None', { model_profiles: { answer: { reasoning_effort: 'none' } } }],
    ['ANSWER_VERBOSITY', 'low', { model_profiles: { answer: { verbosity: 'low' } } }],
    ['OPENAI_BASE_URL', 'https://eu.api.openai.com/v1/', { openai: { base_url: 'https://eu.api.openai.com/v1' } }],
    ['OPENAI_ORG_ID', 'org-1', { openai: { organization: 'org-1' } }],
    ['OPENAI_PROJECT_ID', 'proj_1', { openai: { project: 'proj_1' } }],
    ['LLM_ADAPTER', 'offline', { llm: { adapter: 'offline' } }],
    ['MCP_TOOL_ERRORS', 'result', { server: { tool_errors: 'result' } }],
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
    ['OPENAI_MAX_RETRIES', '-1', 'an integer, 0 or greater'],
    ['SEARCH_MAX_RESULTS', '0', 'an integer, 1 or greater'],
    ['MAX_CITATIONS', '11', 'an integer from 1 to 10'],
    ['ANSWER_EFFORT', 'huge', 'one of none, minimal, low, medium, high, xhigh, max'],
    ['MODEL_ANSWER', 'gpt 5', 'a model ID, such as gpt-5.2'],
    ['LLM_ADAPTER', 'anthropic', 'one of openai, offline'],
    ['OPENAI_ORG_ID', '組織', 'an organization ID, such as org-...'],
    ['OPENAI_PROJECT_ID', 'my project', 'a project ID, such as proj_...'],
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

test.each(['q3J7+abc/def=', 'af86d0c3a1', 'alice=s3cret'])(
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
    ['true', { debug: true }],
    ['TRUE', { debug: true }],
    ['0', { debug: false }],
    ['false', { debug: false }],
    ['/tmp/mcp.log', { debug: true, debug_file: '/tmp/mcp.log' }],
    ['logs/debug', { debug: true, debug_file: resolve('logs/debug') }],
    ['C:\\logs\\debug.txt', { debug: true, debug_file: resolve('C:\\logs\\debug.txt') }],
    ['mcp.log', { debug: true, debug_file: resolve('mcp.log') }],
  ])('%s means %j', (value, server) => {
    expect(read({ DEBUG: value }).tree).toEqual({ server });
  });

  test.each(['*', 'express:*', 'yes', 'on', '2', 'log', 'app', 'openai'])('%s belongs to another program', (value) => {
    expect(read({ DEBUG: value })).toEqual({ tree: {}, names: [], problems: [] });
  });
});
