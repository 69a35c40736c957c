import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { exactNumberIn, mayBeInexact, toJsonText } from '../../../domain/values/exact-number.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';

/** Members whose own members MCP defines. Other values, such as `structuredContent`, are passed on as they are, with every null. */
const PARTS: ReadonlySet<string> = new Set(
  (
    'result params error content messages contents resource tools prompts arguments resources resourceTemplates annotations icons execution ' +
    'completion capabilities roots logging prompts completions elicitation tasks serverInfo'
  ).split(' '),
);

/** Receives the messages with numbers whose digits the official client, which parses each message again, would change. */
export type OnExact = (message: unknown) => void;

interface ReadMessages {
  readonly values: readonly unknown[];
  /** Whether the text has the same messages, so that it need not be written again. */
  readonly isAsWritten: boolean;
}

/**
 * Reads the messages in a JSON text of a server, for the official client, which refuses what MCP does not specify: members that are null are absent,
 * and an envelope is complete. `requestId` is that of the request to which the text is the answer, if there is just one; if it can be no other's, the
 * text is `whole`, and the ID in it does not count. Undefined without JSON.
 */
export function readMessages(
  text: string,
  requestId?: RequestId,
  onExact?: OnExact,
  part: 'whole' | 'part' = 'part',
): ReadMessages | undefined {
  const written = parseJson(text);
  if (written === undefined) return undefined;
  const whole = text.includes('null') ? withoutNulls(written) : written;
  const isAnswer = part === 'whole' && isResponse(whole) && requestId !== undefined && whole.id !== requestId;
  const values = (Array.isArray(whole) ? whole : [isAnswer ? { ...whole, id: requestId } : whole]).map((value) =>
    toMessage(value, requestId),
  );
  if (onExact !== undefined && mayBeInexact(text))
    for (const value of values) if (exactNumberIn(value) !== undefined) onExact(value);
  return { values, isAsWritten: values[0] === written && text.trim() === text };
}

/** An event of a stream, and the messages in it, each in an event of its own. Other events stay as they are. */
export function readEvent(
  bytes: Uint8Array,
  requestId?: RequestId,
  onExact?: OnExact,
): { readonly bytes: Uint8Array; readonly messages: readonly unknown[] } {
  const events: EventSourceMessage[] = [];
  const written: string[] = [];
  const onRetry = (ms: number) => written.push(`retry: ${ms}\n`);
  createParser({ onEvent: (event) => events.push(event), onRetry }).feed(Buffer.from(bytes).toString());
  const [event] = events;
  const read = event && readMessages(event.data, requestId, onExact);
  if (event === undefined || read === undefined) return { bytes, messages: [] };
  const { values: messages } = read;
  // The client reads no event of another name.
  const isNamed = event.event !== undefined && event.event !== 'message';
  if (read.isAsWritten && !(isNamed && messages.some(isResponse))) return { bytes, messages };
  if (event.id !== undefined) written.push(`id: ${event.id}\n`);
  const head = written.join('');
  const rewritten = Buffer.from(messages.map((value) => `${head}data: ${JSON.stringify(value)}\n\n`).join(''));
  return { bytes: rewritten, messages };
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

function isResponse(value: unknown): value is JsonObject {
  return isObject(value) && value.method === undefined && (value.result !== undefined || value.error !== undefined);
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

/** An error with a number and a text. Some servers write the number as a text, nothing but the text, or the text in another member. */
function toError(error: unknown): JsonObject {
  const { code, message, ...more } = isObject(error) ? error : { code: 0, message: error };
  const number = Number(code);
  const words = [message, more.data, more].map(toWords).find((text) => text !== '');
  return { ...more, code: Number.isInteger(number) ? number : 0, message: words ?? 'the server gave no reason' };
}

function toWords(value: unknown): string {
  if (typeof value === 'string') return value;
  const isEmpty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
  return isEmpty ? '' : toJsonText(value);
}

/** Codes of errors that replace responses which cannot be read. They are outside the ranges of JSON-RPC and MCP. */
export const TOO_LARGE = -1_000_001;
export const LOST = -1_000_002;
export const INVALID = -1_000_003;

/** A response that replaces one that was not read, or cannot be used. */
export function errorResponse(
  id: RequestId,
  code: typeof TOO_LARGE | typeof LOST | typeof INVALID,
  message: string,
): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

export function tooLargeResponse(id: RequestId, maxBytes: number): JSONRPCMessage {
  return errorResponse(id, TOO_LARGE, `a response of more than ${maxBytes} bytes`);
}

const ID = String.raw`"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** The ID and the version, in any order, at the start of an object, and the name of the next member. */
const HEAD = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(\w+)"\s*:`);
const TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/**
 * The ID of the request to which a message responds, from the start and the end of the message. Undefined if the message is not a response;
 * `unknown` if there is no ID in them.
 */
export function requestIdIn(start: string, end: string): RequestId | 'unknown' | undefined {
  const [, first, member] = HEAD.exec(start) ?? [];
  if (member === 'method' || member === 'params') return undefined;
  const [, last] = TAIL.exec(end) ?? [];
  // A text that looks like an ID need not be JSON.
  const id = parseJson(first ?? last ?? '');
  return typeof id === 'string' || typeof id === 'number' ? id : 'unknown';
}

const NEWLINE = 0x0a;

/** Splits bytes into lines. If a line has more than `maxBytes`, only its start and its end are kept. */
export class LineReader {
  readonly #line: MessageBytes;

  constructor(maxBytes: number) {
    this.#line = new MessageBytes(maxBytes);
  }

  /** Adds a chunk, and returns the lines that end in it. */
  *linesOf(chunk: Buffer): Generator<Buffer | MessageEnds> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.add(chunk.subarray(start, end));
      yield this.#line.take();
      start = end + 1;
    }
    this.#line.add(chunk.subarray(start));
  }
}

/** Number of bytes that are kept at each end. The ID of a response is in them, because servers write it before or after the result. */
export const END_BYTES = 1024;

/** The start and the end of a message that was too large. */
export interface MessageEnds {
  readonly start: string;
  readonly end: string;
}

/** Collects the bytes of one message after the other. If a message has more than `maxBytes`, only its start and its end are kept. */
export class MessageBytes {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isTooLarge(): boolean {
    return this.#length > this.#maxBytes;
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#length += bytes.length;
    this.#parts.push(bytes);
    if (!this.isTooLarge) return;
    const kept = Buffer.concat(this.#parts);
    this.#parts = [kept.subarray(0, END_BYTES), kept.subarray(END_BYTES).subarray(-END_BYTES)];
  }

  /** Ends the message, and returns it. The next byte begins another one. */
  take(): Buffer | MessageEnds {
    const [first] = this.#parts;
    const bytes = this.#parts.length === 1 && first instanceof Buffer ? first : Buffer.concat(this.#parts);
    const isTooLarge = this.isTooLarge;
    this.#parts = [];
    this.#length = 0;
    if (!isTooLarge) return bytes;
    return { start: bytes.toString('utf8', 0, END_BYTES), end: bytes.subarray(-END_BYTES).toString() };
  }
}
