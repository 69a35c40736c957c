import { expect, test } from 'vitest';
import { KEYS } from '../../../../../src/adapters/outbound/config/keys.ts';
import { mistypedVariables } from '../../../../../src/adapters/outbound/config/mistyped-names.ts';

const KNOWN = ['OPENAI_API_KEY', 'OPENAI_API_KEY_FILE', 'MCP_HTTP_TOKEN', 'MCP_HTTP_QUOTA_STORE'];

const noticeOf = (where: string, nearest: string) => ({ where, message: `unknown variable; did you mean ${nearest}?` });
const find = (environment: Record<string, string>) => mistypedVariables(environment, KNOWN);

test.each([
  ['MCP_TOOL_ERROR', 'MCP_TOOL_ERRORS'],
  ['OPENAI_APIKEY', 'OPENAI_API_KEY'],
  ['MCP_HTTP_TOKENS', 'MCP_HTTP_TOKEN'],
  ['MODEL_PROFILS', 'MODEL_PROFILES'],
  ['TIMEZONE', 'TIME_ZONE'],
])('%s may be meant as %s', (name, nearest) => {
  expect(find({ PATH: '/bin', [name]: 'secret' })).toEqual([noticeOf(name, nearest)]);
});

test.each([
  ...['OPENAI_ORG_ID', 'OPENAI_ORGANIZATION', 'OPENAI_ORG', 'OPENAI_PROJECT', 'OPENAI_API_BASE', 'OPENAI_API_TYPE'],
  ...['OPENAI_ADMIN_KEY', 'OPENAI_MODEL', 'OPENAI_LOG', 'OPENAI_WEBHOOK_SECRET', 'OPENAI_API_HOST', 'OPENAI_PROXY'],
  ...['OPENAI_TIMEOUT', 'MCP_TIMEOUT', 'MCP_TOOL_TIMEOUT', 'MCP_CLIENT_SECRET', 'MCP_SERVER_URL', 'MCP_HTTP_PORT'],
  ...['MCP_HTTP_HOST', 'MCP_toolerrors', 'DEBUGGER', 'TIME_ZONE_ID', 'FTP_PROXY', 'LC_TIME', 'LLM_API_KEY', 'MODEL'],
])('%s is no typo', (name) => {
  expect(find({ [name]: 'x' })).toEqual([]);
});

test('beside a key, a second one is meant, and beside another variable nothing else', () => {
  expect(find({ OPENAI_API_KEY: 'a', OPENAI_API_KEY2: 'b' })).toEqual([]);
  expect(mistypedVariables({ OPENAI_KEY_A: 'a', OPENAI_KEY_B: 'b' }, ['OPENAI_KEY_A'])).toEqual([]);
  expect(find({ MCP_TOOL_ERRORS: 'result', MCP_TOOL_ERROR: 'result' })).toEqual([
    noticeOf('MCP_TOOL_ERROR', 'MCP_TOOL_ERRORS'),
  ]);
  expect(find({ OPENAI_API_KEY2: 'b' })).toEqual([noticeOf('OPENAI_API_KEY2', 'OPENAI_API_KEY')]);
});

test('no variable of this program is a typo of another one', () => {
  const names = [...KEYS.flatMap(({ variable }) => variable ?? []), ...KNOWN];
  for (const name of names) expect(find({ [name]: 'x' })).toEqual([]);
});
