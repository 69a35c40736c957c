import { asObject, asText, type JsonObject, objectsOf } from './json.ts';

/** The queries of a `web_search_call`; `query` is the older form, and may stand beside the newer `queries`. */
export function queriesOf(call: JsonObject): readonly string[] {
  const action = asObject(call.action);
  const queries = Array.isArray(action?.queries)
    ? action.queries.map(asText).filter((query) => query !== undefined)
    : [];
  const query = asText(action?.query);
  return queries.length > 0 ? queries : query === undefined ? [] : [query];
}

/** The page that a call opened or searched in. */
export function openedPage(call: JsonObject): string | undefined {
  const action = asObject(call.action);
  return action?.type === 'open_page' || action?.type === 'find_in_page' ? asText(action.url) : undefined;
}

/** What a search consulted: URLs, or the name of a source that has none (`oai-weather`). */
export function consultedBy(call: JsonObject): readonly string[] {
  const sources = objectsOf(asObject(call.action)?.sources);
  return sources.map((source) => asText(source.url) ?? asText(source.name)).filter((source) => source !== undefined);
}

/** A call without an action is a search all the same. */
export function isSearch(call: JsonObject): boolean {
  return openedPage(call) === undefined && !/^(?:open_page|find_in_page)$/.test(String(asObject(call.action)?.type));
}
