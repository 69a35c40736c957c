/** What a server's connection reports about a call. */
export type ToolServerError =
  /** The server answered with a JSON-RPC error. */
  | { readonly kind: 'json_rpc'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** The server, or the connection to it, was lost during the call. */
  | { readonly kind: 'crashed'; readonly reason: string }
  | { readonly kind: 'too_large'; readonly maxBytes: number }
  /** The answer is not an MCP result. */
  | { readonly kind: 'invalid_result'; readonly detail: string }
  /** A remote server answered 401 or 403. */
  | { readonly kind: 'unauthorized'; readonly status: number }
  | { readonly kind: 'aborted' };

/** Every way in which a call of a server's tool fails. */
export type ToolCallError =
  | Exclude<ToolServerError, { readonly kind: 'aborted' }>
  | { readonly kind: 'unknown_server'; readonly server: string; readonly known: readonly string[] }
  | { readonly kind: 'unknown_tool'; readonly server: string; readonly tool: string; readonly known: readonly string[] }
  | { readonly kind: 'invalid_input'; readonly errors: readonly SchemaError[] }
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

/** Where a value does not match its schema: a JSON pointer, and what is wrong. */
export interface SchemaError {
  readonly path: string;
  readonly message: string;
}

/** `unavailable` will be started again; `failed` only on request (ruling G3). */
export type ServerState = 'starting' | 'available' | 'unavailable' | 'failed' | 'stopped';
