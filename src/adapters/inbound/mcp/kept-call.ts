import { isObject, type JsonObject } from '../../../domain/json.ts';
import { QUESTION_ARGUMENTS } from '../../../domain/question.ts';
import { isToolName } from '../../../domain/tool-name.ts';
import type { RequestMessage } from './json-rpc.ts';

/**
 * A `tools/call` with what is used of it. A call may take minutes, and members that nothing reads could fill the memory until its end.
 * The arguments of other tools are theirs.
 */
export function toKeptCall(message: RequestMessage): RequestMessage {
  const { params } = message;
  if (params === undefined) return message;
  const { name, arguments: args, _meta: meta } = params;
  return {
    ...message,
    params: {
      name,
      arguments: isToolName(name) && isObject(args) ? pick(args, QUESTION_ARGUMENTS) : args,
      _meta: isObject(meta) ? pick(meta, ['progressToken']) : undefined,
    },
  };
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(object, key)).map((key) => [key, object[key]]));
}
