import { getEventListeners } from 'node:events';
import type { Result } from 'neverthrow';
import { afterEach, beforeEach, expect } from 'vitest';
import { networkCalls } from '../../src/adapters/outbound/openai/api-client.ts';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import {
  OpenAiResponsesSearch,
  type OpenAiResponsesSearchOptions,
} from '../../src/adapters/outbound/openai/openai-responses-search.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchProgress,
  SearchReply,
  SearchRequest,
  SearchUse,
} from '../../src/application/ports/llm-search.ts';
import type { Clock, Logger } from '../../src/application/ports/services.ts';
import type { AnswerError, SearchError } from '../../src/domain/answers/answer-error.ts';
import type { AnswerResult } from '../../src/domain/answers/answer-result.ts';
import type { ModelProfile } from '../../src/domain/answers/model-profile.ts';
import type { Question } from '../../src/domain/answers/question.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { callerOf } from '../support/origins.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { redactorOf } from '../support/redactor.ts';
import { toAnswer } from '../support/to-answer.ts';

export const API_KEY = 'sk-proj-contract-0123456789';
export const TODAY = '2026-11-21';

export interface Asked {
  readonly question?: Partial<Question>;
  readonly profile?: Partial<ModelProfile>;
  readonly today?: string;
}

export function searchRequest({ question, profile, today = TODAY }: Asked = {}): SearchRequest {
  return {
    by: callerOf('contract'),
    question: {
      tool: 'answer',
      query: 'What is new in Node.js 24?',
      recencyDays: 60,
      maxResults: 5,
      domains: [],
      ...question,
    },
    profile: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium', ...profile },
    instructions: 'Answer well.',
    timeZone: 'Asia/Tokyo',
    today,
    deadlineMs: 300_000,
    mode: 'web',
  };
}

export interface OpenAiSearchOptions extends Partial<Omit<OpenAiResponsesSearchOptions, 'clock' | 'logger'>> {
  readonly apiKey?: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly fetch?: typeof fetch;
}

/** The adapter as the container creates it, on a server of the test. */
export function openAiSearch(baseUrl: string, options: OpenAiSearchOptions = {}): OpenAiResponsesSearch {
  const { apiKey = API_KEY, fetch = createApiFetch().fetch, ...rest } = options;
  return new OpenAiResponsesSearch({
    callFor: networkCalls({
      apiKey,
      apiKeyVariable: 'OPENAI_API_KEY',
      baseUrl,
      fetch,
    }),
    request: { store: false, domainFilter: 'hint' },
    maxRetries: 3,
    apiKeyVariable: 'OPENAI_API_KEY',
    route: new URL(baseUrl).host,
    clock: FakeClock.instant(),
    logger: new RecordingLogger({ isDebug: true }),
    redactor: redactorOf(apiKey),
    random: () => 1,
    ...rest,
  });
}

/** A response with status, type and bytes, which arrive so many at a time. */
export interface Received {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array | string;
  readonly sliceLength?: number;
}

/** Asks an API that answers with this response. No request leaves the test. */
export function askFor({ status, contentType, body, sliceLength }: Received, request = searchRequest()) {
  const bytes = Buffer.from(body);
  const length = sliceLength ?? Math.max(1, bytes.length);
  const slices = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
  const headers = { 'content-type': contentType };
  const fetch = async () => new Response(ReadableStream.from(slices), { status, headers });
  return ask(openAiSearch('http://api.test/v1', { fetch, maxRetries: 0 }), request);
}

/** The fake API of the current test: each test of the file or group gets a new one. */
export function apiPerTest(): FakeApi {
  const api = {} as FakeApi;
  beforeEach(async () => void Object.assign(api, await startFakeApi()));
  afterEach(() => api.close());
  return api;
}

/** A signal that never aborts. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

export class ProgressLog implements SearchObserver {
  readonly seen: SearchProgress[] = [];
  readonly uses: SearchUse[] = [];
  readonly #onSeen: (progress: SearchProgress) => void;

  constructor(onSeen: (progress: SearchProgress) => void = () => undefined) {
    this.#onSeen = onSeen;
  }

  onProgress(progress: SearchProgress): void {
    this.seen.push(progress);
    this.#onSeen(progress);
  }

  onUsed(use: SearchUse): void {
    this.uses.push(use);
  }
}

export function ask(
  search: LlmSearch,
  request: SearchRequest = searchRequest(),
  signal: AbortSignal = never(),
): Promise<Result<SearchReply, SearchError>> {
  return search.search(request, new ProgressLog(), signal);
}

/** The reply of a search that must succeed. */
export function replyOf(outcome: Result<SearchReply, SearchError>): SearchReply {
  if (outcome.isErr()) throw new Error(`The search failed: ${JSON.stringify(outcome.error)}`);
  return outcome.value;
}

/** The failure of a search that must fail. */
export function errorOf<Failure>(outcome: Result<unknown, Failure>): Failure {
  if (outcome.isOk()) throw new Error(`It succeeded: ${JSON.stringify(outcome.value)}`);
  return outcome.error;
}

/** What a caller of the tool receives for the outcome of a search. */
export function answerOf(
  outcome: Result<SearchReply, SearchError>,
  request: SearchRequest,
  maxCitations = 10,
): Result<AnswerResult, AnswerError | SearchError> {
  const { question, profile, today } = request;
  return outcome.andThen((reply) =>
    toAnswer(reply, { question, model: profile.model, maxCitations, maxAnswerChars: 10_000_000, today }),
  );
}

export function expectNoListener(signal: AbortSignal): void {
  expect(getEventListeners(signal, 'abort')).toEqual([]);
}
