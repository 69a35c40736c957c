import { isSpecType, type JSONRPCMessage, SdkHttpError } from '@modelcontextprotocol/client';
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

/** Responses with numbers whose digits the official client changes when it parses them, until it passes them on. */
export class ExactResponses {
  readonly #byId = new Map<unknown, JSONRPCMessage>();

  keep(message: unknown): void {
    const isResponse = isObject(message) && message.id !== undefined && !('method' in message);
    if (isResponse) this.#byId.set(message.id, message as unknown as JSONRPCMessage);
  }

  /** The response with every digit, or the message itself. */
  take(received: JSONRPCMessage): JSONRPCMessage {
    if (this.#byId.size === 0 || 'method' in received) return received;
    const exact = this.#byId.get(received.id);
    this.#byId.delete(received.id);
    return exact ?? received;
  }
}
