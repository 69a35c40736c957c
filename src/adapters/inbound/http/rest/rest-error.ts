import { loginCommand, type SchemaError, type ToolCallError } from '../../../../domain/gateway/tool-call-error.ts';
import { type ToolResult, textOf } from '../../../../domain/gateway/tool-result.ts';
import { isObject, type JsonObject } from '../../../../domain/values/json.ts';
import { excerpt } from '../../words/plain.ts';
import { NO_ERROR_TEXT, toolErrorCode, toolErrorMessage } from '../../words/tool-error-messages.ts';
import { type Refusal, refusal } from '../shared/refusal.ts';

/** The refusal for a failed call (ruling G17). */
export function ofToolCallError(error: ToolCallError): Refusal {
  const { kind } = error;
  const isAudit = kind === 'audit_unavailable';
  const isSoon = isAudit || kind === 'overloaded' || kind === 'shutting_down';
  const retryAfterMs = kind === 'not_available' ? error.retryAfterMs : isSoon ? 1000 : undefined;
  const more = { details: detailsOf(error), retryAfterMs, ...(isAudit && { reason: 'audit not available' }) };
  return refusal(toolErrorCode(error), toolErrorMessage(error), more);
}

/** What a program can use. The server's own data is merged into it (ruling G15). */
function detailsOf(error: ToolCallError): JsonObject {
  switch (error.kind) {
    case 'invalid_input':
      return { errors: error.errors };
    case 'json_rpc':
      return { ...(isObject(error.data) ? error.data : { data: error.data }), jsonrpcCode: error.code };
    case 'unknown_server':
    case 'overloaded':
      return { server: excerpt(error.server) };
    case 'unknown_tool':
      return { server: error.server, tool: excerpt(error.tool) };
    case 'tool_changed':
      return { server: error.server, tool: error.tool, change: error.change };
    case 'not_available':
      return { server: error.server, state: error.state };
    case 'login_required':
      return { server: error.server, command: loginCommand(error.server) };
    case 'unauthorized':
      return error.scopes === undefined ? {} : { server: error.server, scopes: error.scopes };
    case 'too_large':
      return { maxBytes: error.maxBytes };
    case 'timed_out':
      return { timeoutMs: error.timeoutMs };
    default:
      return {};
  }
}

/** A result with `isError`: the call has an answer, and the answer is an error (ruling G15). */
export function ofToolError(result: ToolResult, status: number): Refusal {
  const { content, structuredContent } = result;
  const returned = { content, structuredContent };
  return refusal('TOOL_EXECUTION_ERROR', textOf(result) || NO_ERROR_TEXT, { status, returned });
}

/** A request whose body has the wrong shape. */
export function ofInvalidBody(errors: readonly SchemaError[]): Refusal {
  const message = errors.map(({ path, message }) => `${path === '' ? 'the body' : path} ${message}`).join('; ');
  return refusal('VALIDATION_ERROR', message, { details: { errors } });
}
