import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { isNestedDeeper, parseJson } from '../../../domain/values/json.ts';
import { PARSE_ERROR } from '../mcp/json-rpc.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { ofErrorObject, type Refusal, refusal } from './refusal.ts';
import type { HttpRequest } from './request.ts';

/** Deeper than the input of any reasonable tool. */
const MAX_NESTING = 64;

/** The JSON value in the body of a POST, of at most `maxBytes`. */
export async function readJsonBody(c: HttpRequest, maxBytes: number): Promise<Result<unknown, Refusal>> {
  const { incoming } = c.env;
  const refused = typeRefusal(incoming.headers);
  if (refused !== undefined) return err(refused);
  if (!/^(?:identity)?$/i.test(incoming.headers['content-encoding'] ?? ''))
    return err(refusal('UNSUPPORTED_MEDIA_TYPE', REFUSALS.compressed, { headers: { 'Accept-Encoding': 'identity' } }));
  const bytes = await readBytes(incoming, maxBytes);
  if (bytes === 'too large') return err(refusal('PAYLOAD_TOO_LARGE', REFUSALS.tooLarge(maxBytes)));
  if (!isUtf8(bytes)) return err(parseError('is not valid UTF-8'));
  const value = parseJson(bytes.toString());
  if (value === undefined) return err(parseError('is not valid JSON'));
  return isNestedDeeper(value, MAX_NESTING) ? err(parseError(`nests more than ${MAX_NESTING} levels deep`)) : ok(value);
}

/** Accepts only JSON, which a page of another origin cannot send without a preflight request. */
export function typeRefusal(headers: IncomingHttpHeaders): Refusal | undefined {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType === 'application/json') return undefined;
  return refusal('UNSUPPORTED_MEDIA_TYPE', REFUSALS.contentType);
}

function parseError(problem: string): Refusal {
  return ofErrorObject('VALIDATION_ERROR', { code: PARSE_ERROR, message: REFUSALS.unreadable(problem) });
}

/**
 * Reads the bytes of the body; none if the client leaves, because it cannot read a response. Hono's middleware reads every body through a web
 * stream, which is slower.
 */
export function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | 'too large'> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve('too large');
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      incoming.off('data', onData);
      resolve('too large');
    };
    incoming.on('data', onData);
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('close', () => resolve(Buffer.alloc(0)));
  });
}
