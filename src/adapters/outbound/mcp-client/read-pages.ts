import { err, ok, type Result } from 'neverthrow';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';

interface PagedList {
  readonly method: string;
  /** The member of the result with the entries. */
  readonly member: string;
  /** Called with the reason if the list ends before its last page. */
  readonly warn: (reason: string) => void;
}

/** Limits of a list, because some servers always have another page. */
const MAX_ENTRIES = 1000;
const MAX_PAGES = 1000;
/** So many pages in a row may bring nothing new, because a server may filter its pages. */
const MAX_STALE_PAGES = 3;

/** MCP, Pagination: the answer to a cursor that the server does not know. */
const INVALID_PARAMS = -32602;

/**
 * Reads a list to its last page, each entry once. A cursor that comes again or that the server itself does not know, and pages that bring nothing new,
 * end the list.
 */
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
    if (result.isErr() && page > 0 && isJsonRpc(result.error, INVALID_PARAMS)) {
      warn(`refuses the next page that it names itself (${result.error.message})`);
      return ok([...listed.values()]);
    }
    if (result.isErr()) return err(result.error);
    const { nextCursor } = result.value;
    const values = entriesOf(result.value[member] ?? absentList(result.value));
    if (values === undefined) return err({ kind: 'invalid_result', detail: `${method} has no list of ${member}` });
    const { size } = identities;
    for (const value of values) {
      listed.set(JSON.stringify(value), value);
      identities.add(identityOf(value));
    }
    if (listed.size > MAX_ENTRIES) break;
    // A cursor is a text, but many servers write a number. It is sent as it came.
    if (nextCursor === undefined || nextCursor === null || nextCursor === false) return ok([...listed.values()]);
    const cursor = JSON.stringify(nextCursor);
    stalePages = identities.size === size ? stalePages + 1 : 0;
    if (cursors.has(cursor) || stalePages === MAX_STALE_PAGES) {
      // Many servers write an empty text for no further page.
      if (nextCursor !== '') warn('names a next page again and again that brings nothing new');
      return ok([...listed.values()]);
    }
    cursors.add(cursor);
    params = { cursor: nextCursor };
  }
  const limits = `${MAX_ENTRIES} ${member} or ${MAX_PAGES} pages`;
  return err({ kind: 'invalid_result', detail: `the list exceeds ${limits}; let the server offer fewer ${member}` });
}

function isJsonRpc(error: ToolServerError, code: number): error is Extract<ToolServerError, { kind: 'json_rpc' }> {
  return error.kind === 'json_rpc' && error.code === code;
}

/** The entries of a list; undefined if it is none. PHP writes a list from which entries were removed as an object. */
function entriesOf(list: unknown): readonly unknown[] | undefined {
  if (Array.isArray(list)) return list;
  return isObject(list) ? Object.values(list) : undefined;
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
