import { asObject, asText, isObject, type JsonObject, objectsOf } from '../../../domain/values/json.ts';

/** A response in the form of the API. Some servers wrap it, send its text beside or in place of the items, or send an error that says nothing. */
export function toResponse(body: JsonObject): JsonObject {
  const wrapped = [body.response, body.result, body.data].find((inner) => Array.isArray(asObject(inner)?.output));
  const response = body.output === undefined && isObject(wrapped) ? wrapped : body;
  const items = objectsOf(response.output);
  const text = asText(response.output_text) ?? asText(response.output);
  if (text === undefined || items.some((item) => isMessage(item) && textOf(item) !== '')) return response;
  return { ...response, output: [...items, { type: 'message', role: 'assistant', content: text }] };
}

/** Whether the API still works on a response with this status. */
export function isOpen({ status }: JsonObject): boolean {
  return /^(?:queued|in_progress|pending|running|processing|requires_\w{1,40})$/i.test(String(status));
}

/** Whether a value says something: it is a text, a number or true, or has such a member. */
export function saysSomething(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.values(value).some(saysSomething) : Boolean(value);
}

export function isMessage({ type, role }: JsonObject): boolean {
  return type === 'message' || ((type ?? '') === '' && role === 'assistant');
}

/** Whether an item is a complete message with a text that is no commentary. */
export function isAnswer(item: JsonObject): boolean {
  const isCut = item.status === 'incomplete' || isOpen(item);
  return isMessage(item) && !isCut && item.phase !== 'commentary' && textOf(item) !== '';
}

/** The parts of a message. Its content is a list of parts or texts, one part, or a text. */
export function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return [content]
    .flat()
    .map((part) => (typeof part === 'string' ? { type: 'output_text', text: part } : part))
    .filter(isObject);
}

export function textOf(message: JsonObject): string {
  return partsOf(message)
    .map((part) => asText(part.text) ?? asText(part.refusal) ?? '')
    .join('');
}

/** The annotations of a message: those of its parts, then its own, which is where Chat Completions has them. */
export function annotationsOf(message: JsonObject): readonly JsonObject[] {
  return [...partsOf(message), message].flatMap(({ annotations }) => objectsOf([annotations].flat()));
}

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
