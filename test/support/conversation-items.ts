import {
  apiId,
  type JsonObject,
  type MessageItem,
  type SearchCallItem,
  textPart,
  toAnnotations,
} from './api-response.ts';

/** Items of a scripted response. Their ids depend on `key` only, so that a repeated request gets the same items. */
export interface ReasoningItem extends JsonObject {
  readonly id: string;
  readonly type: 'reasoning';
  readonly summary: readonly [];
  readonly encrypted_content: string;
}

export interface FunctionCallItem extends JsonObject {
  readonly id: string;
  readonly type: 'function_call';
  readonly status: 'completed' | 'incomplete';
  readonly arguments: string;
  readonly call_id: string;
  readonly name: string;
}

export type ConversationItem = ReasoningItem | FunctionCallItem | MessageItem | SearchCallItem;

/** Reasoning, which the API accepts again only with its encrypted content and with the item that followed it. */
export function reasons(key: string): ReasoningItem {
  return {
    id: apiId('rs', key),
    type: 'reasoning',
    summary: [],
    encrypted_content: `gAAAAAB-${key}-${'x'.repeat(60)}`,
  };
}

/** A call of a function; `args` may be any text, as from a model. Its `call_id` is `call_<key>`. */
export function calls(
  key: string,
  name: string,
  args: object | string = {},
  status: FunctionCallItem['status'] = 'completed',
): FunctionCallItem {
  return {
    id: apiId('fc', key),
    type: 'function_call',
    status,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    call_id: `call_${key}`,
    name,
  };
}

/** A web search with the sources that it consulted. */
export function searches(key: string, query: string, sources: readonly string[] = []): SearchCallItem {
  const action = {
    type: 'search',
    queries: [query],
    query,
    sources: sources.map((url) => ({ type: 'url', url })),
  };
  return { id: apiId('ws', key), type: 'web_search_call', status: 'completed', action };
}

export interface SaysOptions {
  readonly phase?: 'commentary' | 'final_answer';
  readonly citations?: readonly { readonly url: string; readonly title: string }[];
}

export function says(key: string, text: string, { phase, citations = [] }: SaysOptions = {}): MessageItem {
  return {
    id: apiId('msg', key),
    type: 'message',
    status: 'completed',
    content: [textPart(text, toAnnotations(text, citations))],
    ...(phase === undefined ? {} : { phase }),
    role: 'assistant',
  };
}

/** OpenAI's citation marker for a source of an own tool, such as `turn0tool0`. */
export function cites(...refs: readonly string[]): string {
  return `\uE200cite${refs.map((ref) => `\uE202${ref}`).join('')}\uE201`;
}
