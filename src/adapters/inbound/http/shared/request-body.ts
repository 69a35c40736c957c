import { isUtf8 } from 'node:buffer';
import type { IncomingMessage as HttpRequest } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../../application/ports/clock.ts';
import { parseJson } from '../../../../domain/values/json.ts';
import { nestsDeeper } from '../../../../domain/values/json-nesting.ts';
import { PARSE_ERROR } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Exchange, HttpContext } from './exchange.ts';
import { ofErrorObject, overloaded, type Refusal, refusal } from './refusal.ts';

type Limits = Pick<HttpContext, 'maxBodyBytes' | 'bodyBytes'>;

/** No tool of a sane program needs more. */
const MAX_NESTING = 64;

/** The JSON value in the body of a POST, of at most `maxBodyBytes`. */
export async function readJsonBody(exchange: Exchange, limits: Limits): Promise<Result<unknown, Refusal>> {
  const { request } = exchange;
  const refused = typeRefusal(request);
  if (refused !== undefined) return err(refused);
  if (!/^(?:identity)?$/i.test(request.headers['content-encoding'] ?? ''))
    return err(refusal('UNSUPPORTED_MEDIA_TYPE', REFUSALS.compressed, { headers: { 'Accept-Encoding': 'identity' } }));
  return (await readBytes(exchange, limits)).andThen((bytes) => {
    if (!isUtf8(bytes)) return err(parseError('is not valid UTF-8'));
    if (nestsDeeper(bytes, MAX_NESTING)) return err(parseError(`nests more than ${MAX_NESTING} levels deep`));
    const value = parseJson(bytes.toString());
    return value === undefined ? err(parseError('is not valid JSON')) : ok(value);
  });
}

/** A page cannot send the accepted type without a preflight request. */
export function typeRefusal({ headers }: HttpRequest): Refusal | undefined {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType === 'application/json') return undefined;
  return refusal('UNSUPPORTED_MEDIA_TYPE', REFUSALS.contentType);
}

function parseError(problem: string): Refusal {
  return ofErrorObject('VALIDATION_ERROR', { code: PARSE_ERROR, message: REFUSALS.unreadable(problem) });
}

/** After a refusal, Node.js discards the rest within the time limit for requests: the client can read the response. */
function readBytes(exchange: Exchange, { maxBodyBytes, bodyBytes }: Limits): Promise<Result<Buffer, Refusal>> {
  const { request } = exchange;
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBodyBytes) return Promise.resolve(err(tooLarge(maxBodyBytes)));
  if (!bodyBytes.hold(exchange, announced)) return Promise.resolve(err(TOO_MANY));
  return new Promise((resolve) => {
    // Copied, since a list of parts keeps more than their bytes: a body may have millions.
    let bytes: Buffer = Buffer.alloc(0);
    let length = 0;
    const settle = (body: Result<Buffer, Refusal>) => {
      request.off('data', onData);
      // The listeners live as long as the request.
      bytes = Buffer.alloc(0);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      const start = length;
      length += chunk.length;
      if (length > maxBodyBytes) return settle(err(tooLarge(maxBodyBytes)));
      if (length > bytes.length) {
        const size = Math.max(length, Math.min(announced || maxBodyBytes, 2 * bytes.length));
        if (announced === 0 && !bodyBytes.hold(exchange, size - bytes.length)) return settle(err(TOO_MANY));
        bytes = Buffer.concat([bytes.subarray(0, start)], size);
      }
      chunk.copy(bytes, start);
    };
    request.on('data', onData);
    request.once('end', () => settle(ok(bytes.subarray(0, length))));
    // The client is gone and will not read the response.
    for (const event of ['close', 'error']) request.once(event, () => settle(ok(Buffer.alloc(0))));
  });
}

const TOO_MANY = overloaded(REFUSALS.requestBytes);

function tooLarge(max: number): Refusal {
  return refusal('PAYLOAD_TOO_LARGE', REFUSALS.tooLarge(max));
}

/** What a part of such a body counts at least: thousands of tiny ones take time. */
const MIN_PART_BYTES = 256;
/** How long the body of a request that is refused is received. */
const MAX_DISCARD_MS = 1000;

/**
 * Resolves when the body of a request that is refused has arrived, which is not read, for a limited time and size. If a connection is
 * closed while the client sends, the client may lose the response.
 */
export async function discardedBody(request: HttpRequest, maxBytes: number, clock: Clock): Promise<void> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  const hasBody = Number(length) > 0 || encoding !== undefined;
  if (!hasBody || Number(length) > maxBytes) return;
  const ended = new AbortController();
  let left = maxBytes;
  request.on('data', (chunk: Buffer) => {
    left -= Math.max(chunk.length, MIN_PART_BYTES);
    if (left < 0) ended.abort();
  });
  for (const event of ['end', 'close', 'error']) request.once(event, () => ended.abort());
  await clock.sleep(MAX_DISCARD_MS, ended.signal);
}
