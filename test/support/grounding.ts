import { toolErrorMessage } from '../../src/adapters/inbound/words/tool-error-messages.ts';
import { GroundedSearch, type GroundedSearchOptions } from '../../src/application/grounded/grounded-search.ts';
import type { SearchProgress, SearchRequest } from '../../src/application/ports/llm-search.ts';
import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';
import type { GroundingPolicy } from '../../src/domain/grounded/grounding.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { never } from './core.ts';
import { FakeAnswerGateway } from './fake-answer-gateway.ts';
import { FakeClock } from './fake-clock.ts';
import { type ConfiguredRound, FakeLlmSearch } from './fake-llm-search.ts';
import { callerOf, LOCAL } from './origins.ts';
import { RecordingLogger } from './recording-logger.ts';

export function policyOf(over: Partial<GroundingPolicy> = {}): GroundingPolicy {
  return {
    tools: { jira: 'all' },
    web: 'before',
    maxRounds: 6,
    maxCalls: 20,
    maxOutputChars: 20_000,
    callers: [],
    ...over,
  };
}

/** A tool that only reads, `server/name`. */
export function tool(path: string, over: Partial<GatewayTool> = {}): GatewayTool {
  const [server = '', name = ''] = path.split('/');
  const annotations = { readOnlyHint: true };
  return { server, name, description: `Does ${name}.`, inputSchema: { type: 'object' }, annotations, ...over };
}

export function groundedRequest(over: Partial<SearchRequest> = {}): SearchRequest {
  return {
    by: LOCAL,
    question: { tool: 'answer', query: 'What is open?', recencyDays: 60, maxResults: 5, domains: [] },
    profile: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium' },
    instructions: 'The policy.',
    timeZone: 'Asia/Tokyo',
    today: '2026-01-05',
    deadlineMs: 300_000,
    mode: 'web',
    ...over,
  };
}

interface Options extends Partial<Pick<GroundedSearchOptions, 'clock' | 'redactor'>> {
  readonly policy?: Partial<GroundingPolicy>;
}

/** The loop on fakes: the replies of the model, what the gateway has, and what differs from the defaults. */
export function startGrounded(
  replies: readonly ConfiguredRound[],
  own: FakeAnswerGateway['options'] = {},
  { policy, ...over }: Options = {},
) {
  const clock = new FakeClock();
  const logger = new RecordingLogger({ isDebug: true });
  const [llmSearch, gateway] = [new FakeLlmSearch(...replies), new FakeAnswerGateway(own)];
  const progress: SearchProgress[] = [];
  const observer = { onProgress: (step: SearchProgress) => void progress.push(step) };
  const ports = {
    llmSearch,
    startGateway: async () => gateway,
    clock,
    logger,
    messageFor: toolErrorMessage,
    redactor: createRedactor(),
  };
  const grounded = new GroundedSearch({ ...ports, policy: policyOf(policy), ...over });
  const search = (request: Partial<SearchRequest> = {}, signal: AbortSignal = never()) =>
    grounded.search(groundedRequest(request), observer, signal);
  const searchFor = (caller: string) => search({ by: callerOf(caller) });
  return { grounded, search, searchFor, llmSearch, gateway, clock, logger, progress };
}
