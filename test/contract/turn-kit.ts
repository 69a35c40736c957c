import { onTestFinished } from 'vitest';
import type { Conversation, Round, SearchReply, SearchRequest } from '../../src/application/ports/llm-search.ts';
import type { OfferedFunction } from '../../src/domain/grounded/grounding.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import { calls, reasons, says } from '../support/conversation-items.ts';
import type { BackEnd } from '../support/conversation-rules.ts';
import { type ConversationApi, startConversationApi } from '../support/fake-conversation-api.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Asked, ask, type OpenAiSearchOptions, openAiSearch, searchRequest } from './search-kit.ts';

/** A function as the core offers it. */
export function offered(name: string, parameters: JsonObject = { type: 'object', properties: {} }): OfferedFunction {
  const [server = '', tool = ''] = name.split('__');
  return {
    name,
    description: `The tool ${tool}.`,
    parameters,
    tool: { server, name: tool, description: '', inputSchema: parameters },
  };
}

export const SEARCH_ISSUES = offered('jira__search_issues', {
  type: 'object',
  properties: { query: { type: 'string' } },
  required: ['query'],
});
export const READ_PAGE = offered('wiki__read_page');

/** A last response. */
export const OK = [says('ok', 'Done.')];
/** A response that calls a function. */
export const CALL = [reasons('1'), calls('1', 'jira__search_issues', { query: 'open' })] as const;
/** What is included in responses. */
export const INCLUDE = ['web_search_call.action.sources', 'reasoning.encrypted_content'];
/** The choice of tools while the web is closed. */
export const ALLOWED = {
  type: 'allowed_tools',
  mode: 'auto',
  tools: [SEARCH_ISSUES, READ_PAGE].map(({ name }) => ({ type: 'function', name })),
};

/** A request whose conversation has functions. */
export function turnRequest({
  asked,
  ...rest
}: Partial<Conversation> & { readonly asked?: Asked } = {}): SearchRequest {
  const functions = [SEARCH_ISSUES, READ_PAGE];
  return { ...searchRequest(asked), mode: { functions, mayCall: true, web: 'open', rounds: [], ...rest } };
}

/** A conversation with the adapter, on a fake API of its own. */
export async function startTurns(options: OpenAiSearchOptions = {}, backEnd: BackEnd = {}) {
  const api = await startConversationApi(backEnd);
  onTestFinished(() => api.close());
  const logger = new RecordingLogger();
  const search = openAiSearch(api.url, { logger, ...options });
  return { api, logger, search, ask: (request: SearchRequest = turnRequest()) => ask(search, request) };
}

/** What is sent back for a turn: the same text for each of its calls. */
export function answered({ items, calls }: SearchReply, text = 'It worked.'): Round {
  return { items, outputs: calls.map(({ callId }) => ({ callId, output: { text, images: [] } })) };
}

/** The bodies of the requests so far. */
export function bodiesOf({ requests }: ConversationApi): readonly JsonObject[] {
  return requests.map(({ body }) => body);
}
