import {
  type CallToolRequest,
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  type RequestOptions,
  type StandardSchemaV1,
  type Tool,
} from '@modelcontextprotocol/client';
import type { AskedCaller, NotifiedCaller } from '../../../application/ports/tool-server.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { SettlingTransport } from './settling-transport.ts';

/** Far longer than any limit: the caller of the port ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The result as the server sent it. The client's own check would reject results that this program accepts. */
const ANY_RESULT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'any', validate: (value) => ({ value: value as JsonObject }) },
};

export interface SendOptions extends RequestOptions {
  readonly signal: AbortSignal;
  readonly asked?: AskedCaller | NotifiedCaller | undefined;
  /** The name of the caller, if a caller has made the request. */
  readonly caller?: string | undefined;
  /** What the caller can be asked; a server of the modern era gets it with each request. */
  readonly declared?: JsonObject | undefined;
  /** The definition of a tool with arguments that the client also sends as headers, in the modern era. */
  readonly toolDefinition?: Tool;
}

/** Sends a request by a connected client, and resolves with the result as its server sent it. */
export function ask(client: Client, method: string, params: JsonObject, options: SendOptions): Promise<JsonObject> {
  const { transport } = client;
  if (transport instanceof SettlingTransport && client.getProtocolEra() !== 'modern')
    return transport.ask(method, params, options);
  const { declared = {}, asked: _, caller: __, ...forClient } = options;
  const sent = { ...forClient, timeout: NO_TIMEOUT_MS, allowInputRequired: true };
  const _meta = { [CLIENT_CAPABILITIES_META_KEY]: declared, ...(params._meta as object) };
  const request = { ...params, _meta };
  if (options.toolDefinition === undefined) return client.request({ method, params: request }, ANY_RESULT, sent);
  return client.callTool(request as unknown as CallToolRequest['params'], sent) as Promise<JsonObject>;
}

/** Whether a schema marks arguments that are also sent as headers (SEP-2243). */
export function marksHeaders(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return 'x-mcp-header' in schema || Object.values(schema).some(marksHeaders);
}
