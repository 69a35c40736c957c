import type { IncomingMessage as HttpRequest } from 'node:http';
import type { Clock } from '../../../application/ports/clock.ts';

const MAX_MS = 1000;

/**
 * Resolves when the body of a request that is refused has arrived, which nobody reads, for a limited time and size. If a connection is
 * closed while the client sends, the client may lose the response.
 */
export async function discardedBody(request: HttpRequest, maxBytes: number, clock: Clock): Promise<void> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  const hasBody = Number(length) > 0 || encoding !== undefined;
  if (!hasBody || Number(length) > maxBytes) return;
  const ended = new AbortController();
  let left = maxBytes;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) ended.abort();
  });
  for (const event of ['end', 'close', 'error']) request.once(event, () => ended.abort());
  await clock.sleep(MAX_MS, ended.signal);
}
