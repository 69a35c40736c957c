import { pipeline, type Readable, type Transform } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import { readBytes } from '../network/read-bytes.ts';

/** Bytes of a body, and characters of an event of a stream. Far beyond any answer, and what a small machine can hold. */
export const MAX_LENGTH = 16 * 1024 * 1024;

export const TOO_LARGE = 'it is larger than 16 MiB';

/** A response that is not read to its end. The message completes "The response could not be read: ...". */
export class RefusedResponse extends Error {}

/** What is read of a response. A `Response` of `fetch` is one, too. */
export interface ApiResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null | undefined };
  readonly body: Readable | ReadableStream | null;
  text(): Promise<string>;
}

/**
 * A `fetch` for the API, with a Node.js stream as the body: the web streams of Node's own take more time than everything else in a short call.
 * It follows no redirect, because questions are for the configured API only, and limits the size of a text after decompression. Of an event
 * stream, the reader limits each event. It requests no compression, but some servers compress everything. `close` closes the connections.
 */
export function createApiFetch(dispatcher: Dispatcher = new Agent()) {
  const apiFetch = async (url: string, init: RequestInit): Promise<ApiResponse> => {
    const { origin, pathname, search } = new URL(url);
    const { headers = {} } = init;
    const response = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: Symbol.iterator in headers ? Object.fromEntries(headers) : headers,
      body: (init.body as string | undefined) ?? null,
      signal: init.signal,
    });
    const { statusCode: status } = response;
    // A body that is not read to its end reports that as an error, also when it is discarded.
    response.body.on('error', () => {});
    const received = new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
    const location = received.get('location');
    if (status >= 300 && status < 400 && location !== undefined) {
      response.body.destroy();
      throw new RefusedResponse(`it redirects to ${withoutQuery(location, url)}, which is not followed`);
    }
    const decompress = DECOMPRESSORS.get(received.get('content-encoding')?.toLowerCase() ?? '');
    const body = decompress === undefined ? response.body : pipeline(response.body, decompress(), () => {});
    return { status, ok: status >= 200 && status < 300, headers: received, body, text: () => textOf(body) };
  };
  return { fetch: apiFetch as unknown as typeof fetch, close: () => dispatcher.destroy() };
}

const DECOMPRESSORS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The query and the user of a URL may contain secrets. */
function withoutQuery(location: string, base: string): string {
  if (!URL.canParse(location, base)) return 'a malformed URL';
  const { protocol, host, pathname } = new URL(location, base);
  return `${protocol}//${host}${pathname}`;
}

async function textOf(body: Readable): Promise<string> {
  const { bytes, isCut } = await readBytes(body, MAX_LENGTH);
  if (isCut) throw new RefusedResponse(TOO_LARGE);
  // It removes a byte order mark, unlike `toString`.
  return new TextDecoder().decode(bytes);
}
