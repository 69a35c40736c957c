import type { RequestId } from '@modelcontextprotocol/client';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';

/** Members whose own members MCP defines. Other values, such as `structuredContent`, are passed on as they are, with every null. */
const PARTS: ReadonlySet<string> = new Set(
  (
    'result params error content messages contents resource tools prompts arguments resources resourceTemplates annotations icons execution ' +
    'completion capabilities roots logging prompts completions elicitation tasks serverInfo'
  ).split(' '),
);

interface ReadMessages {
  readonly values: readonly unknown[];
  /** Whether the text has the same messages, so that it need not be written again. */
  readonly isAsWritten: boolean;
}

/**
 * Reads the messages in a JSON text of a server, for the official client, which refuses what MCP does not specify: members that are null are absent,
 * and an envelope is complete. `requestId` is that of the request to which the text is the answer, if there is just one. Undefined without JSON.
 */
export function readMessages(text: string, requestId?: RequestId): ReadMessages | undefined {
  const written = parseJson(text);
  if (written === undefined) return undefined;
  const whole = text.includes('null') ? withoutNulls(written) : written;
  const values = (Array.isArray(whole) ? whole : [whole]).map((value) => toMessage(value, requestId));
  return { values, isAsWritten: values[0] === written && text.trim() === text };
}

/** An event of a stream with the messages that it contains, each in an event of its own. Other events stay as they are. */
export function readEvent(bytes: Uint8Array, requestId?: RequestId): Uint8Array {
  const events: EventSourceMessage[] = [];
  const written: string[] = [];
  const onRetry = (ms: number) => written.push(`retry: ${ms}\n`);
  createParser({ onEvent: (event) => events.push(event), onRetry }).feed(Buffer.from(bytes).toString());
  const [event] = events;
  const read = event && readMessages(event.data, requestId);
  if (event === undefined || read === undefined || read.isAsWritten) return bytes;
  if (event.event !== undefined) written.push(`event: ${event.event}\n`);
  if (event.id !== undefined) written.push(`id: ${event.id}\n`);
  const head = written.join('');
  return Buffer.from(read.values.map((value) => `${head}data: ${JSON.stringify(value)}\n\n`).join(''));
}

/** The same value, or a copy in which no member and no entry of MCP is null. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((entry) => entry !== null).map(withoutNulls);
    return kept.length === value.length && kept.every((entry, index) => entry === value[index]) ? value : kept;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  const kept = members.map(([name, member]) => [name, PARTS.has(name) ? withoutNulls(member) : member] as const);
  const isSame = members.length === Object.keys(value).length && kept.every(([name, member]) => value[name] === member);
  return isSame ? value : Object.fromEntries(kept);
}

/** A message with the members of JSON-RPC. A response without an ID answers the request. A value that is no message stays as it is. */
function toMessage(value: unknown, requestId: RequestId | undefined): unknown {
  if (!isObject(value)) return value;
  const { jsonrpc, method, id = requestId, result, error } = value;
  if (method === undefined && result === undefined && error === undefined) return value;
  const isResponse = method === undefined && (id !== value.id || !isSpecified(value));
  if (!isResponse) return jsonrpc === '2.0' ? value : { ...value, jsonrpc: '2.0' };
  const answer = result === undefined ? { error: toError(error) } : { result: withMeta(result) };
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), ...answer };
}

/** Whether a response has either a result or an error, in the form of JSON-RPC and MCP. */
function isSpecified({ result, error }: JsonObject): boolean {
  if (result !== undefined) return error === undefined && withMeta(result) === result;
  return isObject(error) && Number.isInteger(error.code) && typeof error.message === 'string';
}

/** The result without a `_meta` that is no object. */
function withMeta(result: unknown): unknown {
  if (!isObject(result) || result._meta === undefined || isObject(result._meta)) return result;
  const { _meta, ...rest } = result;
  return rest;
}

/** An error with a number and a text. Some servers write the number as a text, or nothing but the text. */
function toError(error: unknown): JsonObject {
  const { code, message, ...more } = isObject(error) ? error : { code: 0, message: error };
  const number = Number(code);
  const text = typeof message === 'string' && message !== '' ? message : 'the server gave no reason';
  return { ...more, code: Number.isInteger(number) ? number : 0, message: text };
}
