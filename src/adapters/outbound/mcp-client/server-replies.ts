import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  isSpecType,
  type JSONRPCMessage,
  type RequestId,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson, withoutUndefined } from '../../../domain/values/json.ts';
import { errorResponse, INVALID, LOST } from './messages.ts';

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

/**
 * The result of `initialize` without what the official client would refuse it for, because a server must not be lost for a detail. A server that names
 * no revision has nothing against the one for which it was asked.
 */
export function toInitializeResult(result: JsonObject, asked: unknown): JsonObject {
  const { protocolVersion, capabilities, serverInfo, instructions } = result;
  return withoutUndefined({
    ...result,
    protocolVersion: typeof protocolVersion === 'string' && protocolVersion !== '' ? protocolVersion : asked,
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

export function lostResponse(id: RequestId): JSONRPCMessage {
  return errorResponse(id, LOST, 'the connection was closed before the response');
}

/** The response, or an error if it is malformed: the client would ignore it, and its request would wait until its time limit. */
export function toStrict(id: RequestId, { result, error }: { result?: unknown; error?: unknown }): JSONRPCMessage {
  const response = { jsonrpc: '2.0', id, ...(result === undefined || result === null ? { error } : { result }) };
  // Only `_meta` has a form of its own in every result, and most results have none.
  if (isObject(result) && result._meta === undefined) return response as unknown as JSONRPCMessage;
  if (isJSONRPCResultResponse(response) || isJSONRPCErrorResponse(response)) return response;
  return errorResponse(id, INVALID, 'the answer is neither a result nor an error');
}
