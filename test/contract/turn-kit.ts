import type { Result } from 'neverthrow';
import { onTestFinished } from 'vitest';
import type { OpenAiResponsesSearch } from '../../src/adapters/outbound/openai/openai-responses-search.ts';
import type { Round, Turn, TurnRequest } from '../../src/application/ports/llm-turns.ts';
import type { SearchError } from '../../src/domain/answer-error.ts';
import type { OfferedFunction } from '../../src/domain/grounding.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { BackEnd } from '../support/conversation-rules.ts';
import { type ConversationApi, startConversationApi } from '../support/fake-conversation-api.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { type Asked, never, type OpenAiSearchOptions, openAiSearch, ProgressLog, searchRequest } from './search-kit.ts';

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

export function turnRequest({ asked, ...rest }: Partial<TurnRequest> & { readonly asked?: Asked } = {}): TurnRequest {
  const rounds = rest.rounds ?? [];
  return {
    ...searchRequest(asked),
    functions: [SEARCH_ISSUES, READ_PAGE],
    mayCall: true,
    web: 'open',
    rounds,
    round: rounds.length,
    ...rest,
  };
}

/** A conversation with the adapter, on a fake API of its own. */
export async function startTurns(options: OpenAiSearchOptions = {}, backEnd: BackEnd = {}) {
  const api = await startConversationApi(backEnd);
  onTestFinished(() => api.close());
  const logger = new RecordingLogger();
  const search = openAiSearch(api.url, { logger, ...options });
  return { api, logger, search, ask: (request: TurnRequest = turnRequest()) => turn(search, request) };
}

export function turn(search: OpenAiResponsesSearch, request: TurnRequest): Promise<Result<Turn, SearchError>> {
  return search.turn(request, new ProgressLog(), never());
}

/** The turn of a request that must succeed. */
export function turnOf(outcome: Result<Turn, SearchError>): Turn {
  if (outcome.isErr()) throw new Error(`The turn failed: ${JSON.stringify(outcome.error)}`);
  return outcome.value;
}

/** What is sent back for a turn: the same text for each of its calls. */
export function answered({ items, calls }: Turn, text = 'It worked.'): Round {
  return { items, outputs: calls.map(({ callId }) => ({ callId, output: { text, images: [] } })) };
}

/** The bodies of the requests so far. */
export function bodiesOf({ requests }: ConversationApi): readonly JsonObject[] {
  return requests.map(({ body }) => body);
}
