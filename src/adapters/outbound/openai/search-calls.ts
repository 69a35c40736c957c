import { asObject, asText, isObject, type JsonObject } from '../../../domain/values/json.ts';

/** Whether an item is a search. Its type has another name at some servers: `openrouter:web_search`, `search_results`. */
export function isSearchCall({ type }: JsonObject): boolean {
  return /(?:^|:)(?:web_search|search_results)/.test(String(type));
}

/** The queries of a search; `query` is the older form, and may be present in addition to `queries`. */
export function queriesOf(call: JsonObject): readonly string[] {
  const { queries, query } = asObject(call.action) ?? call;
  const listed = Array.isArray(queries) ? queries : [];
  return (listed.length > 0 ? listed : [query]).map(asText).filter((text) => text !== undefined);
}

/** The page that a call opened or searched in. */
export function openedPage(call: JsonObject): string | undefined {
  const action = asObject(call.action);
  return action?.type === 'open_page' || action?.type === 'find_in_page' ? asText(action.url) : undefined;
}

/** The sources of a search: URLs, or the name of a source without a URL (`oai-weather`). */
export function consultedBy(call: JsonObject): readonly string[] {
  return sourcesIn([asObject(call.action)?.sources, call.sources, call.results]);
}

/** The sources in lists of URLs, or of objects with a URL or a name. */
export function sourcesIn(lists: readonly unknown[]): readonly string[] {
  const sources = lists.filter(Array.isArray).flat();
  return sources
    .map((source: unknown) => (isObject(source) ? (asText(source.url) ?? asText(source.name)) : asText(source)))
    .filter((source) => source !== undefined);
}

/** A call without an action is a search too. */
export function isSearch(call: JsonObject): boolean {
  return !/^(?:open_page|find_in_page)$/.test(String(asObject(call.action)?.type));
}
