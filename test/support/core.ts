import type { AnswerQueryInput } from '../../src/application/answers/answer-query.ts';
import { createApplication, type Grounding } from '../../src/application/answers/application.ts';
import type { Config } from '../../src/application/ports/config.ts';
import type { ApiProbe } from '../../src/application/ports/llm-search.ts';
import type { CitedPages, TextReader } from '../../src/application/ports/readers.ts';
import type { Clock } from '../../src/application/ports/services.ts';
import type { Audit } from '../../src/application/tools/audit.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeLlmSearch, replies } from './fake-llm-search.ts';
import { FakeTextReader } from './fake-text-reader.ts';
import { callerOf } from './origins.ts';
import { RecordingLogger } from './recording-logger.ts';

export interface CoreOptions {
  readonly llmSearch?: FakeLlmSearch;
  readonly clock?: Clock;
  readonly logger?: RecordingLogger;
  readonly config?: Partial<Config>;
  readonly citedPages?: CitedPages | undefined;
  readonly texts?: TextReader;
  readonly audit?: Audit | undefined;
  readonly long?: Parameters<typeof createApplication>[0]['long'];
  readonly grounding?: Grounding | undefined;
  readonly apiProbe?: () => Promise<ApiProbe>;
}

/** The core on fakes: a test names only those that it needs. */
export function startCore({
  llmSearch = new FakeLlmSearch(replies()),
  clock = new FakeClock(),
  logger = new RecordingLogger(),
  config = {},
  citedPages,
  texts = new FakeTextReader(),
  long,
  grounding,
  apiProbe = () => Promise.reject(new Error('this test has no API to probe')),
}: CoreOptions = {}) {
  const ports = { llmSearch, apiProbe, clock, logger, citedPages, texts, long };
  const application = createApplication(ports, coreConfig(config), grounding);
  return { application, llmSearch, clock, logger };
}

export function coreConfig(over: Partial<Config> = {}): Config {
  return {
    profiles: { answer: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium' } },
    request: { timeoutMs: 300_000 },
    search: { defaults: { recencyDays: 60, maxResults: 5, domains: [] } },
    policy: { maxCitations: 3 },
    server: { maxAnswerChars: 20_000 },
    citations: { resolveDates: false, check: 'off' },
    timeZone: 'Asia/Tokyo',
    blockedDomains: [],
    ...over,
  };
}

/** A question that can be answered. */
export function ask(over: Partial<AnswerQueryInput> = {}): AnswerQueryInput {
  return {
    by: callerOf('test'),
    tool: 'answer',
    args: { query: 'What does HTTP 404 mean?' },
    observer: { onProgress: () => {} },
    ...over,
  };
}

/** A signal of its own that never aborts, so that a test can count its listeners. */
export function never(): AbortSignal {
  return new AbortController().signal;
}
