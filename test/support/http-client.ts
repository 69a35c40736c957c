import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { JsonRpcMessage } from './mcp-output.ts';
import { until } from './until.ts';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as a message; throws if it is not one. */
  readonly message: JsonRpcMessage;
  /** The messages of an event stream, in order. */
  readonly events: readonly JsonRpcMessage[];
}

/** A request in flight. */
export interface Exchange {
  /** Resolves with the headers. */
  readonly response: Promise<IncomingMessage>;
  /** Resolves with the complete response. */
  readonly reply: Promise<Reply>;
  /** Resolves as soon as the body received so far contains this text. */
  until(part: string): Promise<void>;
  /** Destroys the connection. */
  leave(): void;
}

/** Starts a request as the test wants it; any header may be invalid, `Host` too. */
export function begin(url: string, { method = 'POST', headers = {}, body }: Ask = {}): Exchange {
  const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const outgoing = request(url, {
    method,
    agent: false,
    headers: { ...(bytes === undefined ? {} : JSON_TYPES), ...headers },
  });
  let received = '';
  let finish: (reply: Reply) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const reply = new Promise<Reply>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  reply.catch(() => undefined);
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', (incoming) => {
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      incoming.once('end', () => finish(toReply(incoming, received)));
      incoming.once('error', fail);
      resolve(incoming);
    });
    outgoing.once('error', (error) => {
      reject(error);
      fail(error);
    });
  });
  response.catch(() => undefined);
  outgoing.end(bytes);
  return {
    response,
    reply,
    until: (part) => until(() => received.includes(part)),
    leave: () => void outgoing.destroy(),
  };
}

export function send(url: string, ask: Ask = {}): Promise<Reply> {
  return begin(url, ask).reply;
}

/** The headers that clients of the modern era send with a message. */
export function modernHeaders(message: { readonly method: string; readonly params?: unknown }): Record<string, string> {
  const params = (message.params ?? {}) as { readonly name?: unknown; readonly uri?: unknown };
  const name = { 'tools/call': params.name, 'prompts/get': params.name, 'resources/read': params.uri }[message.method];
  return {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': message.method,
    ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
  };
}

/** A request of the modern era, with its envelope; `meta` on top. */
export function modern(method: string, params: object = {}, meta: object = {}, id: string | number = 1) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

/** A request of the era of `initialize`. */
export function legacy(method: string, params: object = {}, id: string | number = 1) {
  return { jsonrpc: '2.0', id, method, params };
}

const JSON_TYPES = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

function toReply({ statusCode = 0, headers }: IncomingMessage, body: string): Reply {
  return {
    status: statusCode,
    headers,
    text: body,
    get message() {
      return JSON.parse(body) as JsonRpcMessage;
    },
    get events() {
      return [...body.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonRpcMessage);
    },
  };
}
