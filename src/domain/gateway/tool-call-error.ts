import type { Kind } from '../values/kind.ts';
import type { ToolChange } from './approved-tools.ts';
import { BUILT_IN_SERVER, type Rights } from './call-origin.ts';
import type { InputRequired } from './elicitation.ts';
import { advised, type OwnCommand } from './own-command.ts';

/** Failures of a call that the connection to a server reports. */
export type ToolServerError =
  | Kind<'json_rpc', { code: number; message: string; data?: unknown }>
  /** The server, or the connection to it, was lost during the call. */
  | Kind<'crashed', { reason: string }>
  | Kind<'too_large', { maxBytes: number }>
  /** The answer is not an MCP result. */
  | Kind<'invalid_result', { detail: string }>
  /** 401 or 403. `scopes`: those of the login and those that the server demands. `reason`: why a token could not be renewed, for people. */
  | Kind<'unauthorized', { status: number; scopes?: readonly string[]; reason?: string }>
  /** A person must sign in to the server first. */
  | Kind<'login_required'>
  | Kind<'aborted'>;

/** Every way in which a call of a server's tool fails. */
export type ToolCallError =
  | Exclude<ToolServerError, Kind<'aborted' | 'unauthorized' | 'login_required'>>
  | (Extract<ToolServerError, Kind<'unauthorized'>> & { readonly server: string })
  /** `url`: where a caller signs in; otherwise, a person signs in on the machine of the gateway. `reason`: why the issuer refused the last login. */
  | Kind<'login_required', { server: string; url?: string; reason?: string }>
  /**
   * `known`: absent if the tools of the server are not known. `isDenied`: access refuses it, whether it exists or not. `isNoneAllowed`: there are
   * servers, but none for the caller. `isGone`: the server had the tool before its last start.
   */
  | Kind<'unknown_server', { server: string; known: readonly string[]; isDenied?: true; isNoneAllowed?: true }>
  | Kind<'unknown_tool', { server: string; tool: string; known?: readonly string[]; isDenied?: true; isGone?: true }>
  /** The tool is new, or has changed since it was approved. */
  | Kind<'tool_changed', { server: string; tool: string; change: ToolChange }>
  /** `read_tool` was asked to call a tool that may change something. */
  | Kind<'not_read_only', { server: string; tool: string }>
  | Kind<'invalid_input', { errors: readonly SchemaError[] }>
  /** `state` is that of the server. `retryAfterMs`: the time until it is started again. */
  | Kind<'not_available', { server: string; state: ServerState; reason?: string; retryAfterMs?: number }>
  /** As many calls as allowed are running on the server, and as many are waiting; or as many callers as allowed have `connections`, all in use. */
  | Kind<'overloaded', { server: string; maxConcurrency: number; unit?: 'connections' }>
  /** The audit cannot be written: the call was not made (`audit_unavailable`), or it was made and its result is withheld (`unrecorded`). */
  | Kind<'audit_unavailable' | 'unrecorded'>
  | Kind<'shutting_down' | 'cancelled'>
  | InputRequired
  /** A caller repeats a call to answer a question that is not open. */
  | Kind<'no_open_question'>
  | Kind<'timed_out', { timeoutMs: number }>;

/** The error for a server that does not exist for a caller. `all` has the names of all servers. */
export function unknownServer(server: string, all: readonly string[], { sees }: Pick<Rights, 'sees'>) {
  const known = all.filter(sees);
  return {
    kind: 'unknown_server' as const,
    server,
    known,
    ...(!sees(server) && all.includes(server) && { isDenied: true as const }),
    ...(known.length === 0 && all.some((name) => name !== BUILT_IN_SERVER) && { isNoneAllowed: true as const }),
  };
}

/**
 * What programs know of each error: its code in REST and in results over MCP, and whether a server may have seen the call. The error of a call that no
 * server has seen contains no text of a server.
 */
export const TOOL_ERRORS = {
  invalid_input: { code: 'VALIDATION_ERROR', isMade: false },
  not_read_only: { code: 'VALIDATION_ERROR', isMade: false },
  unknown_server: { code: 'SERVER_NOT_FOUND', isMade: false },
  unknown_tool: { code: 'TOOL_NOT_FOUND', isMade: false },
  tool_changed: { code: 'TOOL_CHANGED', isMade: false },
  not_available: { code: 'SERVER_NOT_RUNNING', isMade: false },
  overloaded: { code: 'OVERLOADED', isMade: false },
  /** Some codes of JSON-RPC have another code here. */
  json_rpc: { code: 'TOOL_EXECUTION_ERROR', isMade: true },
  crashed: { code: 'SERVER_CRASHED', isMade: true },
  too_large: { code: 'RESPONSE_TOO_LARGE', isMade: true },
  invalid_result: { code: 'INVALID_RESPONSE', isMade: true },
  login_required: { code: 'LOGIN_REQUIRED', isMade: false },
  unauthorized: { code: 'SERVER_UNAUTHORIZED', isMade: true },
  shutting_down: { code: 'SHUTTING_DOWN', isMade: false },
  audit_unavailable: { code: 'AUDIT_UNAVAILABLE', isMade: false },
  unrecorded: { code: 'CALL_UNRECORDED', isMade: true },
  timed_out: { code: 'TIMEOUT_ERROR', isMade: true },
  no_open_question: { code: 'VALIDATION_ERROR', isMade: false },
  input_required: { code: 'INPUT_REQUIRED', isMade: true },
  cancelled: { code: 'CANCELLED', isMade: true },
} as const satisfies Readonly<Record<ToolCallError['kind'], { readonly code: string; readonly isMade: boolean }>>;

/** Where a value does not match its schema: a JSON pointer, and what is wrong. */
export type SchemaError = Readonly<Record<'path' | 'message', string>>;

/** `idle` starts with its next call; `unavailable` will be started again; `failed` only on request; `login_required` when a person has signed in. */
export type ServerState = 'idle' | 'starting' | 'available' | 'unavailable' | 'login_required' | 'failed' | 'stopped';

/** The command with which a person signs in to a server. */
export function loginCommand(server: string, ownCommand?: OwnCommand): string {
  return advised(`login ${server}`, ownCommand);
}
