import type { ToolCallError } from '../../domain/tool-call-error.ts';

/** The names of errors for programs, in REST and in the texts of MCP results (ruling G17). */
export function toolErrorCode(error: ToolCallError) {
  return error.kind === 'json_rpc' ? jsonRpcErrorCode(error.code, error.message) : CODES[error.kind];
}

const CODES = {
  invalid_input: 'VALIDATION_ERROR',
  unchecked_input: 'VALIDATION_ERROR',
  unknown_server: 'SERVER_NOT_FOUND',
  unknown_tool: 'TOOL_NOT_FOUND',
  not_available: 'SERVER_NOT_RUNNING',
  overloaded: 'OVERLOADED',
  crashed: 'SERVER_CRASHED',
  too_large: 'RESPONSE_TOO_LARGE',
  invalid_result: 'INVALID_RESPONSE',
  unauthorized: 'SERVER_UNAUTHORIZED',
  shutting_down: 'SHUTTING_DOWN',
  timed_out: 'TIMEOUT_ERROR',
  cancelled: 'CANCELLED',
} as const satisfies Readonly<Record<Exclude<ToolCallError['kind'], 'json_rpc'>, string>>;

/** MCP servers report an unknown tool as -32602, those of the official SDK as "Tool x not found". */
function jsonRpcErrorCode(code: number, message: string) {
  const isUnknownTool = code === -32602 && /unknown tool|^(?:MCP error -32602: )?tool .* not found$/i.test(message);
  if (code === -32601 || isUnknownTool) return 'TOOL_NOT_FOUND';
  if (code === -32602 || code === -32600) return 'VALIDATION_ERROR';
  return code === -32700 ? 'INTERNAL_ERROR' : 'TOOL_EXECUTION_ERROR';
}
