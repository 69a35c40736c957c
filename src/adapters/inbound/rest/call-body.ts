import { err, ok, type Result } from 'neverthrow';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import type { SchemaError } from '../../../domain/tool-call-error.ts';
import { excerpt } from '../words/plain.ts';

const MAX_ERRORS = 20;

/** The body of `POST /mcp/call` (ruling G14). */
export interface CallBody {
  readonly server: string;
  readonly toolName: string;
  readonly input: JsonObject;
  readonly timeoutMs: number | undefined;
}

/** Reads the body, or returns every problem with it. */
export function parseCallBody(body: unknown): Result<CallBody, readonly SchemaError[]> {
  if (!isObject(body)) return err([{ path: '', message: 'must be an object with server, toolName and input' }]);
  const { server, toolName, input = {}, timeout, ...unknown } = body;
  const errors: SchemaError[] = Object.keys(unknown)
    .slice(0, MAX_ERRORS)
    .map((key) => ({ path: `/${excerpt(key)}`, message: 'is not a known key' }));
  if (typeof server !== 'string') errors.push({ path: '/server', message: 'must be a string' });
  if (typeof toolName !== 'string') errors.push({ path: '/toolName', message: 'must be a string' });
  if (!isObject(input)) errors.push({ path: '/input', message: 'must be an object' });
  const isTimeout = timeout === undefined || (typeof timeout === 'number' && Number.isInteger(timeout) && timeout >= 1);
  if (!isTimeout) errors.push({ path: '/timeout', message: 'must be an integer of milliseconds, 1 or greater' });
  if (errors.length > 0) return err(errors);
  return ok({
    server: String(server),
    toolName: String(toolName),
    input: input as JsonObject,
    timeoutMs: timeout as number | undefined,
  });
}
