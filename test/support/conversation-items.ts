import { apiId, type JsonObject } from './api-response.ts';

/** An item of a scripted response. Its ID depends on its `key` only, so that a repeated request gets the same items. */
export interface ConversationItem extends JsonObject {
  readonly id: string;
  readonly type: 'reasoning' | 'function_call' | 'web_search_call' | 'message';
}

/** Reasoning, which the API accepts again only with its encrypted content and with the item that followed it. */
export function reasons(key: string): ConversationItem {
  const encrypted = `gAAAAAB-${key}-${'x'.repeat(60)}`;
  return { id: apiId('rs', key), type: 'reasoning', summary: [], encrypted_content: encrypted };
}

/** A call of a function; `args` may be any text, as from a model. Its `call_id` is `call_<key>`. */
export function calls(
  key: string,
  name: string,
  args: object | string = {},
  status: 'completed' | 'incomplete' = 'completed',
): ConversationItem {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { id: apiId('fc', key), type: 'function_call', status, arguments: text, call_id: `call_${key}`, name };
}

/** A web search with the sources that it consulted: URLs, or names of sources without a URL. */
export function searches(key: string, query: string, sources: readonly string[] = []): ConversationItem {
  const toSource = (source: string) =>
    /^https?:/.test(source) ? { type: 'url', url: source } : { type: 'api', name: source };
  const action = { type: 'search', queries: [query], query, sources: sources.map(toSource) };
  return { id: apiId('ws', key), type: 'web_search_call', status: 'completed', action };
}

interface SaysOptions {
  readonly phase?: 'commentary' | 'final_answer' | undefined;
  readonly citations?: readonly { readonly url: string; readonly title: string }[];
  readonly isRefusal?: boolean;
}

export function says(
  key: string,
  text: string,
  { phase, citations = [], isRefusal = false }: SaysOptions = {},
): ConversationItem {
  const annotations = citations.map((citation) => ({ type: 'url_citation', ...citation }));
  const part = isRefusal ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations };
  return {
    id: apiId('msg', key),
    type: 'message',
    status: 'completed',
    content: [part],
    ...(phase && { phase }),
    role: 'assistant',
  };
}

/** OpenAI's citation marker for a source of an own tool, such as `turn0tool0`. */
export function cites(...refs: readonly string[]): string {
  return `\uE200cite${refs.map((ref) => `\uE202${ref}`).join('')}\uE201`;
}
