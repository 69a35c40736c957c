import { err, ok, type Result } from 'neverthrow';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

interface PagedList {
  readonly method: string;
  /** The member of the result with the entries. */
  readonly member: string;
  /** Called if the server always names a next page, but brings nothing new. */
  readonly warn: () => void;
}

/** Limits of a list, because some servers always have another page. */
const MAX_ENTRIES = 1000;
const MAX_PAGES = 1000;
/** So many pages in a row may bring nothing new, because a server may filter its pages. */
const MAX_STALE_PAGES = 3;

/** Reads a list to its last page, each entry once. A cursor that comes again, and pages that bring nothing new, end the list. */
export async function readPages(
  { method, member, warn }: PagedList,
  request: (params: JsonObject) => Promise<Result<JsonObject, ToolServerError>>,
): Promise<Result<readonly unknown[], ToolServerError>> {
  const listed = new Map<string, unknown>();
  const identities = new Set<string>();
  const cursors = new Set<string>();
  let params: JsonObject = {};
  let stalePages = 0;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await request(params);
    if (result.isErr()) return err(result.error);
    const { [member]: values = absentList(result.value), nextCursor } = result.value;
    if (!Array.isArray(values)) return err({ kind: 'invalid_result', detail: `${method} has no list of ${member}` });
    const { size } = identities;
    for (const value of values) {
      listed.set(JSON.stringify(value), value);
      identities.add(identityOf(value));
    }
    if (listed.size > MAX_ENTRIES) break;
    if (typeof nextCursor !== 'string') return ok([...listed.values()]);
    stalePages = identities.size === size ? stalePages + 1 : 0;
    if (cursors.has(nextCursor) || stalePages === MAX_STALE_PAGES) {
      // Many servers write an empty text for no further page.
      if (nextCursor !== '') warn();
      return ok([...listed.values()]);
    }
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  const limits = `${MAX_ENTRIES} ${member} or ${MAX_PAGES} pages`;
  return err({ kind: 'invalid_result', detail: `the list exceeds ${limits}; let the server offer fewer ${member}` });
}

/** A list that is absent is empty, unless the result has another one. */
function absentList(result: JsonObject): readonly unknown[] | undefined {
  return Object.values(result).some(Array.isArray) ? undefined : [];
}

/** What makes an entry of a list another one. */
function identityOf(entry: unknown): string {
  if (!isObject(entry)) return JSON.stringify(entry);
  const { name, uri, uriTemplate } = entry;
  return JSON.stringify([name, uri, uriTemplate]);
}
