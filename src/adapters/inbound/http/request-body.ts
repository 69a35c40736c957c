import { isUtf8 } from 'node:buffer';
import type { IncomingMessage as HttpRequest } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import { PARSE_ERROR } from '../mcp/json-rpc.ts';
import { type Refusal, refusal } from './refusal.ts';

/** The JSON value that a POST carries, of at most so many bytes. */
export async function readJsonBody(request: HttpRequest, maxBytes: number): Promise<Result<unknown, Refusal>> {
  const { headers } = request;
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  // What a page may send without asking first is none of these (a "simple request").
  if (mediaType !== 'application/json') return err(refusal(415, 'Content-Type must be application/json'));
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? '')) {
    return err(refusal(415, 'The body must not be compressed', { 'Accept-Encoding': 'identity' }));
  }
  const tooLarge = refusal(413, `The body must not exceed ${maxBytes} bytes`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) return err(tooLarge);
  const bytes = await readBytes(request, maxBytes);
  return bytes === undefined ? err(tooLarge) : parse(bytes);
}

function parse(bytes: Buffer): Result<unknown, Refusal> {
  const fault = (what: string) =>
    err({ status: 400, error: { code: PARSE_ERROR, message: `Parse error: the body is no ${what}` } });
  if (!isUtf8(bytes)) return fault('UTF-8');
  try {
    return ok(JSON.parse(bytes.toString()));
  } catch {
    return fault('JSON');
  }
}

/**
 * Undefined where there are more than `maxBytes`. The rest is left to Node.js, which discards it once we have answered, so
 * that the sender reads our answer instead of a reset connection; its time limit for a request ends that too.
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
    // A sender that went away reads no answer, whichever it is.
    request.once('close', () => settle(Buffer.alloc(0)));
    request.once('error', () => settle(Buffer.alloc(0)));
  });
}
