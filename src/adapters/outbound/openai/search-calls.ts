import type { JsonObject } from '../../../domain/values/json.ts';
import { asObject, asText, objectsOf } from './json-values.ts';

/** The queries of a `web_search_call`; `query` is the older form, and may be present in addition to `queries`. */
export function queriesOf(call: JsonObject): readonly string[] {
  const action = asObject(call.action);
  const queries = Array.isArray(action?.queries)
    ? action.queries.map(asText).filter((query) => query !== undefined)
    : [];
  const query = asText(action?.query);
  return queries.length > 0 || query === undefined ? queries : [query];
}

/** The page that a call opened or searched in. */
export function openedPage(call: JsonObject): string | undefined {
  const action = asObject(call.action);
  return action?.type === 'open_page' || action?.type === 'find_in_page' ? asText(action.url) : undefined;
}

/** The sources of a search: URLs, or the name of a source without a URL (`oai-weather`). */
export function consultedBy(call: JsonObject): readonly string[] {
  const sources = objectsOf(asObject(call.action)?.sources);
  return sources.map((source) => asText(source.url) ?? asText(source.name)).filter((source) => source !== undefined);
}

/** A call without an action is a search too. */
export function isSearch(call: JsonObject): boolean {
  return !/^(?:open_page|find_in_page)$/.test(String(asObject(call.action)?.type));
}
