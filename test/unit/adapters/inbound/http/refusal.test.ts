import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ofToolCallError } from '../../../../../src/adapters/inbound/http/refusal.ts';
import type { Elicitation } from '../../../../../src/domain/gateway/elicitation.ts';
import { TOOL_ERRORS, type ToolCallError } from '../../../../../src/domain/gateway/tool-call-error.ts';
import { runs } from '../../../../support/sized.ts';

type Row = readonly [
  error: ToolCallError,
  status: number,
  code: string,
  message: string,
  details: object,
  retryAfterMs?: number,
];

const files = { server: 'files' } as const;
const failed = (state: 'starting' | 'unavailable' | 'failed', over: object = {}): ToolCallError => ({
  kind: 'not_available',
  ...files,
  state,
  ...over,
});
const answered = (code: number, message = 'Something is wrong.', data?: unknown): ToolCallError => ({
  kind: 'json_rpc',
  code,
  message,
  ...(data === undefined ? {} : { data }),
});

const PARAMS = { message: 'Delete 3 files?', requestedSchema: { type: 'object', properties: {} } };
const REQUEST = { method: 'elicitation/create', params: PARAMS };
const ASKED: Elicitation = {
  ...files,
  mode: 'form',
  message: PARAMS.message,
  schema: PARAMS.requestedSchema,
  params: PARAMS,
};

const INVALID = [
  { path: '/a', message: 'is required' },
  { path: '', message: 'must be object' },
];

const ROWS: readonly Row[] = [
  [
    { kind: 'invalid_input', errors: INVALID },
    400,
    'VALIDATION_ERROR',
    "The input does not match the tool's schema: /a is required; the input must be object.",
    { errors: INVALID },
  ],
  [
    { kind: 'not_read_only', ...files, tool: 'x' },
    400,
    'VALIDATION_ERROR',
    'The tool "x" of the server files does not declare that it only reads. Nothing was sent. Use call_tool to call it.',
    {},
  ],
  [answered(-32602), 400, 'VALIDATION_ERROR', 'Something is wrong.', { jsonrpcCode: -32602 }],
  [answered(-32600), 400, 'VALIDATION_ERROR', 'Something is wrong.', { jsonrpcCode: -32600 }],
  [
    { kind: 'unknown_server', server: 'x', known: ['files', 'web'] },
    404,
    'SERVER_NOT_FOUND',
    'There is no server "x". The servers are files, web.',
    { server: 'x' },
  ],
  [
    { kind: 'unknown_server', server: 'x', known: [] },
    404,
    'SERVER_NOT_FOUND',
    'There is no server "x". No servers are configured (servers in the YAML file of --config, or --servers=<path>).',
    { server: 'x' },
  ],
  [
    { kind: 'tool_changed', ...files, tool: 'x', change: 'new' },
    409,
    'TOOL_CHANGED',
    'The tool files/x is new and is not approved, so the call was not sent. Compare it with: openai-responses-mcp tools --diff. Approve it with: openai-responses-mcp tools --lock',
    { ...files, tool: 'x', change: 'new' },
  ],
  [
    { kind: 'unknown_tool', ...files, tool: 'x', known: [] },
    404,
    'TOOL_NOT_FOUND',
    'The server files has no tool "x". It has no tools.',
    { ...files, tool: 'x' },
  ],
  [answered(-32601), 404, 'TOOL_NOT_FOUND', 'Something is wrong.', { jsonrpcCode: -32601 }],
  [answered(-32602, 'Unknown tool: x'), 404, 'TOOL_NOT_FOUND', 'Unknown tool: x', { jsonrpcCode: -32602 }],
  [answered(-32602, 'Tool x y not found'), 404, 'TOOL_NOT_FOUND', 'Tool x y not found', { jsonrpcCode: -32602 }],
  [
    answered(-32602, 'The tool needs a file, and a.txt was not found'),
    400,
    'VALIDATION_ERROR',
    'The tool needs a file, and a.txt was not found',
    { jsonrpcCode: -32602 },
  ],
  [
    { kind: 'overloaded', ...files, maxConcurrency: 2 },
    429,
    'OVERLOADED',
    'The server files has 2 calls in progress and as many waiting. Try again when some have finished, or raise its max_concurrency.',
    files,
    1000,
  ],
  [answered(-32000), 500, 'TOOL_EXECUTION_ERROR', 'Something is wrong.', { jsonrpcCode: -32000 }],
  [answered(-32000, '\u0007 '), 500, 'TOOL_EXECUTION_ERROR', 'The server answered with the error -32000.', {}],
  [
    answered(-32000, 'x', { field: 'a', jsonrpcCode: 1 }),
    500,
    'TOOL_EXECUTION_ERROR',
    'x',
    { field: 'a', jsonrpcCode: -32000 },
  ],
  [answered(-32000, 'x', 'why'), 500, 'TOOL_EXECUTION_ERROR', 'x', { data: 'why', jsonrpcCode: -32000 }],
  [{ kind: 'cancelled' }, 499, 'CANCELLED', 'The call was cancelled.', {}],
  [answered(-32700), 500, 'INTERNAL_ERROR', 'Something is wrong.', { jsonrpcCode: -32700 }],
  [
    { kind: 'crashed', reason: 'killed by SIGKILL' },
    502,
    'SERVER_CRASHED',
    'The server was lost during the call (killed by SIGKILL). The call may have had effects; it was not repeated.',
    {},
  ],
  [
    { kind: 'too_large', maxBytes: 1024 },
    502,
    'RESPONSE_TOO_LARGE',
    "The call was made, but its answer exceeds 1024 bytes. Ask for less, or raise the server's max_response_bytes.",
    { maxBytes: 1024 },
  ],
  [
    { kind: 'invalid_result', detail: 'the answer is not the result of a tool' },
    502,
    'INVALID_RESPONSE',
    "The server's answer is not valid: the answer is not the result of a tool.",
    {},
  ],
  [
    { kind: 'unauthorized', server: 'notes', status: 401 },
    502,
    'SERVER_UNAUTHORIZED',
    "The server did not accept the gateway's credentials (HTTP 401). Check its headers in the configuration.",
    {},
  ],
  [
    { kind: 'unauthorized', server: 'notes', status: 403, scopes: ['notes:read', 'notes:write'] },
    502,
    'SERVER_UNAUTHORIZED',
    "The gateway's login has too few scopes for this call. Set auth.scopes of the server notes to notes:read, notes:write, and sign in again on the gateway's machine with: openai-responses-mcp login notes",
    { server: 'notes', scopes: ['notes:read', 'notes:write'] },
  ],
  [
    { kind: 'unauthorized', server: 'notes', status: 403, scopes: [] },
    502,
    'SERVER_UNAUTHORIZED',
    "The gateway's login has too few scopes for this call. Set auth.scopes of the server notes to those that the server requires, and sign in again on the gateway's machine with: openai-responses-mcp login notes",
    { server: 'notes', scopes: [] },
  ],
  [
    { kind: 'unauthorized', server: 'notes', status: 403, scopes: ['a'], reason: 'set auth.scopes to a' },
    502,
    'SERVER_UNAUTHORIZED',
    'The gateway has no access to the server notes: set auth.scopes to a.',
    { server: 'notes', scopes: ['a'] },
  ],
  [
    { kind: 'login_required', server: 'notes' },
    503,
    'LOGIN_REQUIRED',
    "The server notes requires a login. Sign in on the gateway's machine with: openai-responses-mcp login notes",
    { server: 'notes', command: 'openai-responses-mcp login notes' },
  ],
  [
    failed('unavailable', { reason: 'exited with code 1', retryAfterMs: 3500 }),
    503,
    'SERVER_NOT_RUNNING',
    'The server files is not available (it has stopped and will be started again: exited with code 1). It is started again in 3.5 s.',
    { ...files, state: 'unavailable' },
    3500,
  ],
  [
    failed('failed', { reason: 'exited with code 1' }),
    503,
    'SERVER_NOT_RUNNING',
    'The server files is not available (it failed and is not started again: exited with code 1). When that is mended, start it again (POST /mcp/servers/files/restart).',
    { ...files, state: 'failed' },
  ],
  [
    failed('starting'),
    503,
    'SERVER_NOT_RUNNING',
    'The server files is still starting; nothing was sent. Try again soon.',
    { ...files, state: 'starting' },
  ],
  [
    { kind: 'audit_unavailable' },
    503,
    'AUDIT_UNAVAILABLE',
    'AUDIT_UNAVAILABLE: The call was not made, because it cannot be recorded. Try again later; an operator must check why the audit file cannot be written.',
    {},
    1000,
  ],
  [
    { kind: 'unrecorded' },
    502,
    'CALL_UNRECORDED',
    'CALL_UNRECORDED: The call was made, and its result is withheld, because it cannot be recorded. Do not repeat it: what it did would be done twice. An operator must check why the audit file cannot be written.',
    {},
  ],
  [{ kind: 'shutting_down' }, 503, 'SHUTTING_DOWN', 'The gateway is shutting down. Try again later.', {}, 1000],
  [
    { kind: 'timed_out', timeoutMs: 1500 },
    504,
    'TIMEOUT_ERROR',
    'No answer within 1.5 s. The tool may still be running. Allow more time (timeout of the server), or ask for less.',
    { timeoutMs: 1500 },
  ],
  [
    {
      kind: 'input_required',
      ...files,
      elicitation: ASKED,
      requests: [REQUEST],
      why: 'nobody',
      result: { content: [] },
    },
    422,
    'INPUT_REQUIRED',
    'files asks: Delete 3 files? Nobody can be asked here. Call this tool from a client that supports elicitation, or in the terminal.',
    { server: 'files', questions: [REQUEST], result: { content: [] } },
  ],
  [
    { kind: 'no_open_question' },
    400,
    'VALIDATION_ERROR',
    'the question of this requestState is not open: it was answered before, has ended, or belongs to another call. Nothing was sent. Call again without requestState and inputResponses.',
    {},
  ],
  [
    { kind: 'input_required', ...files, requests: [], why: 'nobody' },
    422,
    'INPUT_REQUIRED',
    'files needs to ask a question. Nobody can be asked here. Call this tool from a client that supports elicitation, or in the terminal.',
    { questions: [] },
  ],
];

test.for(ROWS)('%j', ([error, status, code, message, details, retryAfterMs]) => {
  const row = ofToolCallError(error);
  expect(row).toMatchObject({ status, code, message, details });
  expect(row.retryAfterMs).toBe(retryAfterMs);
});

test('each kind of error has a row above', () => {
  expect(new Set(ROWS.map(([{ kind }]) => kind))).toEqual(new Set(Object.keys(TOOL_ERRORS)));
});

test('an error of a server has a known code, a message and details, whatever the server sends', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '"', '\u0007', '\u001b', '語', '\ud800') });
  const data = fc.oneof(fc.constant(undefined), fc.dictionary(text, fc.integer()), fc.array(fc.integer()), text);
  const code = fc.oneof(fc.integer(), fc.integer({ min: -32_800, max: -32_000 }));
  fc.assert(
    fc.property(code, text, data, (code, message, data) => {
      const row = ofToolCallError({ kind: 'json_rpc', code, message, data });
      expect(row.code).toMatch(/^(?:VALIDATION_ERROR|TOOL_NOT_FOUND|TOOL_EXECUTION_ERROR|INTERNAL_ERROR)$/);
      expect(row.message.trim()).not.toBe('');
      expect(row.details).toMatchObject({ jsonrpcCode: code });
    }),
    { numRuns: runs(1000) },
  );
});
