import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import { mayBeText } from '../../../domain/gateway/text-members.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { NO_OBJECT, noJson, unreadableFile } from '../words/tool-error-messages.ts';
import type { TypedInput, TypedMember } from './command-words.ts';

/** An input that was read: an object, or members whose types the schema of the tool decides. */
export type CallInput = JsonObject | readonly TypedMember[];

/** Reads the input of a call: JSON, `@` and the path of a file, or `-` for standard input. The error is a message. */
export async function readInput(input: TypedInput, signal: AbortSignal): Promise<Result<CallInput, string>> {
  if (typeof input !== 'string') return ok(input);
  let json = input;
  try {
    if (input === '-') json = await untilAborted(text(process.stdin), signal);
    else if (input.startsWith('@')) json = readFileSync(input.slice(1), 'utf8');
  } catch (error) {
    return err(unreadableFile(input.slice(1), reasonOf(error)));
  }
  const args = parseJson(json);
  return isObject(args) ? ok(args) : err(NO_OBJECT);
}

/** Whether the schema of the tool is needed to read the input. */
export function isTyped(input: CallInput): input is readonly TypedMember[] {
  return Array.isArray(input);
}

/** The arguments of a call. A member that may be a text is one; every other value is JSON. The error is a message. */
export function toArguments(input: CallInput, schema: JsonObject = {}): Result<JsonObject, string> {
  if (!isTyped(input)) return ok(input);
  const members: [string, unknown][] = [];
  for (const [key, typed] of input) {
    const value = mayBeText(schema, key) ? typed : parseJson(typed);
    if (value === undefined) return err(noJson(key, typed));
    members.push([key, value]);
  }
  return ok(Object.fromEntries(members));
}
