import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { NO_OBJECT, unreadableFile } from '../words/tool-error-messages.ts';

/** Reads the input of a call: JSON, `@` and the path of a file, or `-` for standard input. The error is a message. */
export async function readInput(input: string, signal: AbortSignal): Promise<Result<JsonObject, string>> {
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
