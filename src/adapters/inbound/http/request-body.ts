import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { parseJson } from '../../../domain/json.ts';
import { nestsDeeper } from '../../../domain/json-nesting.ts';
import { PARSE_ERROR } from '../mcp/json-rpc.ts';
import type { Exchange, HttpContext } from './http-context.ts';
import { overloaded, type Refusal, refusal } from './refusal.ts';

/** No tool of a sane program needs more. */
const MAX_NESTING = 64;

/** The JSON value in the body of a POST, of at most `maxBodyBytes`. */
export async function readJsonBody(
  exchange: Exchange,
  context: Pick<HttpContext, 'maxBodyBytes' | 'bodyBytes'>,
): Promise<Result<unknown, Refusal>> {
  const { headers } = exchange.request;
  const refused = typeRefusal(headers);
  if (refused !== undefined) return err(refused);
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    return err(refusal(415, 'The body must not be compressed', { 'Accept-Encoding': 'identity' }));
  }
  const bytes = await readBytes(exchange, context);
  if (bytes === 'too_large') {
    return err(refusal(413, `The body must not exceed ${context.maxBodyBytes} bytes (http.max_body_bytes)`));
  }
  if (bytes === 'too_many') {
    return err(overloaded('Too many bytes of requests in progress. Try again when one has finished.'));
  }
  if (!isUtf8(bytes)) return err(parseError('is not valid UTF-8'));
  if (nestsDeeper(bytes, MAX_NESTING)) return err(parseError(`nests more than ${MAX_NESTING} levels deep`));
  const value = parseJson(bytes.toString());
  return value === undefined ? err(parseError('is not valid JSON')) : ok(value);
}

/** A page cannot send the accepted type without a preflight request. */
export function typeRefusal(headers: IncomingHttpHeaders): Refusal | undefined {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return mediaType === 'application/json' ? undefined : refusal(415, 'Content-Type must be application/json');
}

function parseError(problem: string): Refusal {
  return { status: 400, error: { code: PARSE_ERROR, message: `Parse error: the body ${problem}` } };
}

/**
 * Node.js discards the rest of a body that is refused after the response, so that the client can read the response instead of getting
 * a reset connection. The time limit for requests applies to the rest too.
 */
function readBytes(
  exchange: Exchange,
  { maxBodyBytes, bodyBytes }: Pick<HttpContext, 'maxBodyBytes' | 'bodyBytes'>,
): Promise<Buffer | 'too_large' | 'too_many'> {
  const { request } = exchange;
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBodyBytes) return Promise.resolve('too_large');
  if (!bodyBytes.hold(exchange, announced)) return Promise.resolve('too_many');
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    const settle = (bytes: Buffer | 'too_large' | 'too_many') => {
      request.off('data', onData);
      // The listeners live as long as the request.
      chunks = [];
      resolve(bytes);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBodyBytes) return settle('too_large');
      if (announced === 0 && !bodyBytes.hold(exchange, chunk.length)) return settle('too_many');
      chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', () => settle(Buffer.concat(chunks)));
    // The client is gone and will not read the response.
    for (const event of ['close', 'error']) request.once(event, () => settle(Buffer.alloc(0)));
  });
}
