import type { Kind } from '../values/kind.ts';
import type { ToolChange } from './approved-tools.ts';

/** What a server's connection reports about a call. */
export type ToolServerError =
  | Kind<'json_rpc', { code: number; message: string; data?: unknown }>
  /** The server, or the connection to it, was lost during the call. */
  | Kind<'crashed', { reason: string }>
  | Kind<'too_large', { maxBytes: number }>
  /** The answer is not an MCP result. */
  | Kind<'invalid_result', { detail: string }>
  /** 401 or 403. `scopes`: of the login, and what the server demands (ruling O6). `reason`: why a token could not be renewed, for people. */
  | Kind<'unauthorized', { status: number; scopes?: readonly string[]; reason?: string }>
  /** A person must sign in to the server first (ruling O4). */
  | Kind<'login_required'>
  | Kind<'aborted'>;

/** Every way in which a call of a server's tool fails. */
export type ToolCallError =
  | Exclude<ToolServerError, Kind<'aborted' | 'unauthorized' | 'login_required'>>
  | (Extract<ToolServerError, Kind<'unauthorized' | 'login_required'>> & { readonly server: string })
  | Kind<'unknown_server', { server: string; known: readonly string[] }>
  | Kind<'unknown_tool', { server: string; tool: string; known: readonly string[] }>
  /** The tool is not as it was approved (ruling T13). */
  | Kind<'tool_changed', { server: string; tool: string; change: ToolChange }>
  /** The tool may change something, and only one that reads was to be called. */
  | Kind<'not_read_only', { server: string; tool: string }>
  | Kind<'invalid_input', { errors: readonly SchemaError[] }>
  | Kind<'unchecked_input', { problem: CheckProblem }>
  /** `state` is that of the server; with `retryAfterMs`, it is restarted then. */
  | Kind<'not_available', { server: string; state: ServerState; reason?: string; retryAfterMs?: number }>
  /** As many calls as allowed are running on the server, and as many are waiting. */
  | Kind<'overloaded', { server: string; maxConcurrency: number }>
  /** `audit_unavailable`: the line of the call cannot be written: it was not sent, or its result is withheld (ruling T11). */
  | Kind<'shutting_down' | 'audit_unavailable' | 'cancelled'>
  | Kind<'timed_out', { timeoutMs: number }>;

/** The server did not see these calls, and their errors contain nothing that it wrote. */
export const NOT_SENT = [
  'invalid_input',
  'unchecked_input',
  'not_read_only',
  'unknown_tool',
  'unknown_server',
  'tool_changed',
  'not_available',
  'login_required',
  'overloaded',
  'shutting_down',
] as const satisfies readonly ToolCallError['kind'][];

/** Where a value does not match its schema: a JSON pointer, and what is wrong. */
export type SchemaError = Readonly<Record<'path' | 'message', string>>;

/** Why a value could not be checked, for people. */
export const CHECK_PROBLEMS = {
  too_slow: 'the check against its schema takes too long',
  too_large: 'it is too large to be checked against its schema',
  failed: 'the check against its schema failed, perhaps for lack of memory',
  incomplete: 'a file of this program is missing; restart it',
} as const;
export type CheckProblem = keyof typeof CHECK_PROBLEMS;

export type SchemaCheckError =
  | Kind<'mismatch', { errors: readonly SchemaError[] }>
  | Kind<'unchecked', { problem: CheckProblem }>
  | Kind<'aborted'>;

export function toInputError(error: SchemaCheckError): ToolCallError {
  if (error.kind === 'mismatch') return { kind: 'invalid_input', errors: error.errors };
  return error.kind === 'unchecked' ? { kind: 'unchecked_input', problem: error.problem } : { kind: 'cancelled' };
}

/** `unavailable` will be started again; `failed` only on request (ruling G3); `login_required` when a person has signed in (ruling O3). */
export type ServerState = 'starting' | 'available' | 'unavailable' | 'login_required' | 'failed' | 'stopped';

/** What a person runs to sign in to a server. */
export function loginCommand(server: string): string {
  return `openai-responses-mcp login ${server}`;
}
