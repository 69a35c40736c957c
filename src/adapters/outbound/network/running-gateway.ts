import { err, ok } from 'neverthrow';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { toJsonText } from '../../../domain/values/exact-number.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';

/** The base URL of a gateway, of which people also give the page (`/`) or the MCP endpoint (`/mcp`). */
function baseOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/(?:mcp\/?)?$/, '')}`;
}

/** A gateway that runs already, over REST. `token` is sent to it, and to no address to which it redirects. */
export function createRunningGateway(url: string, token: string | undefined, fetch: typeof globalThis.fetch) {
  const base = baseOf(url);
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return {
    url: base,
    request: async (path: string, body: JsonObject | undefined, signal: AbortSignal) => {
      const content = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const init = body === undefined ? {} : { method: 'POST', body: toJsonText(body) };
      const headers = { ...authorization, ...content, Accept: 'application/json' };
      try {
        const response = await fetch(`${base}${path}`, { ...init, headers, redirect: 'manual', signal });
        const read = parseJson(await response.text());
        return ok({ status: response.status, body: isObject(read) ? read : undefined });
      } catch (error) {
        return err(reasonOf(error));
      }
    },
  };
}
