import { err, ok, type Result } from 'neverthrow';
import { parseJson } from '../../../domain/json.ts';

/** The documents of authorization servers have some kilobytes; with certificates, some tens. */
const MAX_BYTES = 256 * 1024;

/** The JSON document at `url`, of at most 256 KiB and not from another URL; or why there is none, for the log. */
export async function readJson(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<Result<unknown, string>> {
  try {
    const response = await fetch(url, { headers: { Accept: 'application/json' }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      return err(`${url} has the status ${response.status}`);
    }
    const text = await readText(response);
    if (text === undefined) return err(`${url} has more than ${MAX_BYTES} bytes`);
    const value = parseJson(text);
    return value === undefined ? err(`${url} is not JSON`) : ok(value);
  } catch (error) {
    return err(`${url}: ${signal.aborted ? 'no response in time' : reasonOf(error)}`);
  }
}

/** Undefined if there are more than `MAX_BYTES`. */
async function readText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) return undefined;
  }
  return Buffer.concat(chunks).toString();
}

/** `fetch` says only that it failed, and its cause why. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { readonly cause?: { readonly code?: string }; readonly message?: string };
  return cause?.code ?? message ?? String(error);
}
