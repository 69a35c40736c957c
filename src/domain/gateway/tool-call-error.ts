/** What a server's connection reports about a call. */
export type ToolServerError =
  /** The server answered with a JSON-RPC error. */
  | { readonly kind: 'json_rpc'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The server, or the connection to it, was lost during the call. */
  | { readonly kind: 'crashed'; readonly reason: string }
  | { readonly kind: 'too_large'; readonly maxBytes: number }
  /** The answer is not an MCP result. */
  | { readonly kind: 'invalid_result'; readonly detail: string }
  /** A remote server answered 401 or 403. `scopes`: those of the login, and those that the server demands (ruling O6). */
  | {
      readonly kind: 'unauthorized';
      readonly status: number;
      readonly scopes?: readonly string[];
      /** What happened instead, for people: a token could not be renewed. */
      readonly reason?: string;
    }
  /** A person must sign in to the server first (ruling O4). */
  | { readonly kind: 'login_required' }
  | { readonly kind: 'aborted' };

/** Every way in which a call of a server's tool fails. */
export type ToolCallError =
  | Exclude<ToolServerError, { readonly kind: 'aborted' | 'unauthorized' | 'login_required' }>
  | (Extract<ToolServerError, { readonly kind: 'unauthorized' | 'login_required' }> & { readonly server: string })
  | { readonly kind: 'unknown_server'; readonly server: string; readonly known: readonly string[] }
  | { readonly kind: 'unknown_tool'; readonly server: string; readonly tool: string; readonly known: readonly string[] }
  | { readonly kind: 'invalid_input'; readonly errors: readonly SchemaError[] }
  | { readonly kind: 'unchecked_input'; readonly problem: CheckProblem }
  /** `state` is that of the server; with `retryAfterMs`, it is restarted then. */
  | {
      readonly kind: 'not_available';
      readonly server: string;
      readonly state: ServerState;
      readonly reason?: string;
      readonly retryAfterMs?: number;
    }
  /** As many calls as allowed are running on the server, and as many are waiting. */
  | { readonly kind: 'overloaded'; readonly server: string; readonly maxConcurrency: number }
  | { readonly kind: 'shutting_down' }
  | { readonly kind: 'timed_out'; readonly timeoutMs: number }
  | { readonly kind: 'cancelled' };

/** The server did not see these calls, and their errors contain nothing that it wrote. */
export const NOT_SENT = [
  'invalid_input',
  'unchecked_input',
  'unknown_tool',
  'unknown_server',
  'not_available',
  'login_required',
  'overloaded',
  'shutting_down',
] as const satisfies readonly ToolCallError['kind'][];

/** Where a value does not match its schema: a JSON pointer, and what is wrong. */
export interface SchemaError {
  readonly path: string;
  readonly message: string;
}

/** Why a value could not be checked, for people. */
export const CHECK_PROBLEMS = {
  too_slow: 'the check against its schema takes too long',
  too_large: 'it is too large to be checked against its schema',
  failed: 'the check against its schema failed, perhaps for lack of memory',
} as const;
export type CheckProblem = keyof typeof CHECK_PROBLEMS;

/** Why a value is not known to match its schema. */
export type SchemaCheckError =
  | { readonly kind: 'mismatch'; readonly errors: readonly SchemaError[] }
  | { readonly kind: 'unchecked'; readonly problem: CheckProblem }
  | { readonly kind: 'aborted' };

/** The error of a call whose input did not pass its check. */
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
