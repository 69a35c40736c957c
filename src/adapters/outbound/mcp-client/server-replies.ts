import { isSpecType, SdkHttpError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson, withoutUndefined } from '../../../domain/values/json.ts';

/** The body of a response that made a transport fail. */
export function textOf(thrown: unknown): string {
  const text = thrown instanceof SdkHttpError && isObject(thrown.data) ? thrown.data.text : undefined;
  return typeof text === 'string' ? text : '';
}

/** The JSON object in that body. */
export function bodyOf(thrown: unknown): JsonObject | undefined {
  const body = parseJson(textOf(thrown));
  return isObject(body) ? body : undefined;
}

/** The result of `initialize` without what the official client would refuse it for, because a server must not be lost for a detail. */
export function toInitializeResult(result: JsonObject): JsonObject {
  const { capabilities, serverInfo, instructions } = result;
  return withoutUndefined({
    ...result,
    capabilities: toCapabilities(capabilities),
    serverInfo: isSpecType.Implementation(serverInfo) ? serverInfo : toIdentity(serverInfo),
    instructions: typeof instructions === 'string' ? instructions : undefined,
  });
}

/** A capability is declared by any value but false, such as the empty list that PHP writes for an empty object. */
function toCapabilities(capabilities: unknown): JsonObject {
  const declared = Object.entries(isObject(capabilities) ? capabilities : {}).filter(([, value]) => value !== false);
  return Object.fromEntries(
    declared.map(([name, value]) => [name, isSpecType.ServerCapabilities({ [name]: value }) ? value : {}]),
  );
}

function toIdentity(serverInfo: unknown): JsonObject {
  const { name = serverInfo, version } = isObject(serverInfo) ? serverInfo : {};
  const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  return { name: toText(name), version: toText(version) };
}
