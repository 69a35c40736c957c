import { isUtf8 } from 'node:buffer';
import type { IncomingMessage as HttpRequest } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { parseJson } from '../../../domain/json.ts';
import { PARSE_ERROR } from '../mcp/json-rpc.ts';
import { type Refusal, refusal } from './refusal.ts';

/** The JSON value in the body of a POST, of at most `maxBytes`. */
export async function readJsonBody(request: HttpRequest, maxBytes: number): Promise<Result<unknown, Refusal>> {
  const { headers } = request;
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  // A page cannot send this type without a preflight request.
  if (mediaType !== 'application/json') return err(refusal(415, 'Content-Type must be application/json'));
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    return err(refusal(415, 'The body must not be compressed', { 'Accept-Encoding': 'identity' }));
  }
  const tooLarge = refusal(413, `The body must not exceed ${maxBytes} bytes`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) return err(tooLarge);
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return err(tooLarge);
  const value = isUtf8(bytes) ? parseJson(bytes.toString()) : undefined;
  if (value !== undefined) return ok(value);
  const message = `Parse error: the body is not valid ${isUtf8(bytes) ? 'JSON' : 'UTF-8'}`;
  return err({ status: 400, error: { code: PARSE_ERROR, message } });
}

/**
 * Undefined if there are more than `maxBytes`. Node.js discards the rest after the response, so that the client can read the
 * response instead of getting a reset connection. The time limit for requests applies to the rest too.
 */
function readBytes(request: HttpRequest, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (bytes: Buffer | undefined) => {
      request.off('data', onData);
      resolve(bytes);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) settle(undefined);
    };
    request.on('data', onData);
    request.once('end', () => settle(Buffer.concat(chunks)));
    // The client is gone and will not read the response.
    for (const event of ['close', 'error']) request.once(event, () => settle(Buffer.alloc(0)));
  });
}
