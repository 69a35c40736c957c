import { err, ok, type Result } from 'neverthrow';
import type { ToolCall } from '../../../application/tools/tool-call.ts';
import type { SchemaError } from '../../../domain/gateway/tool-call-error.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { excerpt } from '../words/plain.ts';
import { ofInvalidBody, type Refusal } from './refusal.ts';

/** A call as a request describes it, without the caller. */
export type NamedCall = Omit<ToolCall, 'by'>;

const MAX_ERRORS = 20;

/** Reads the body of `POST /mcp/call`. The refusal names every problem with it. */
export function parseCallBody(body: unknown): Result<NamedCall, Refusal> {
  if (!isObject(body)) {
    return err(ofInvalidBody([{ path: '', message: 'must be an object with server, toolName and input' }]));
  }
  const { server, toolName, input = {}, timeout, ...unknown } = body;
  const errors: SchemaError[] = Object.keys(unknown)
    .slice(0, MAX_ERRORS)
    .map((key) => ({ path: `/${excerpt(key)}`, message: 'is not a known key' }));
  if (typeof server !== 'string') errors.push({ path: '/server', message: 'must be a string' });
  if (typeof toolName !== 'string') errors.push({ path: '/toolName', message: 'must be a string' });
  if (!isObject(input)) errors.push({ path: '/input', message: 'must be an object' });
  const isTimeout = timeout === undefined || (typeof timeout === 'number' && Number.isInteger(timeout) && timeout >= 1);
  if (!isTimeout) errors.push({ path: '/timeout', message: 'must be an integer of milliseconds, 1 or greater' });
  if (errors.length > 0) return err(ofInvalidBody(errors));
  const timeoutMs = timeout as number | undefined;
  return ok({ server: String(server), tool: String(toolName), args: input as JsonObject, timeoutMs });
}
