import { fileURLToPath } from 'node:url';
import { OfflineSearch } from '../../src/adapters/outbound/openai/recordings/offline-search.ts';
import { CoalescingSearch } from '../../src/application/answers/coalescing-search.ts';
import type { LlmSearch } from '../../src/application/ports/llm-search.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answers, fails, stallsMidStream } from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import {
  type ConfiguredReply,
  FakeLlmSearch,
  fails as failsWith,
  hangs,
  replies,
  starts,
} from '../support/fake-llm-search.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { describeLlmSearch, type SearchKind, type StartedSearch } from './describe-llm-search.ts';
import { openAiSearch, searchRequest } from './search-kit.ts';

/** A server that answers, fails or hangs depending on the question. */
async function startOpenAi(): Promise<StartedSearch> {
  const api = await startFakeApi();
  api.replyWith(({ body }) => {
    const input = String(body.input);
    if (input.startsWith('fail')) return fails({ status: 403 });
    return input.startsWith('hang')
      ? stallsMidStream()
      : answers(TEXT, { citations: [{ url: PAGE, title: 'Node.js' }] });
  });
  return {
    search: openAiSearch(api.url),
    answered: searchRequest(),
    failing: searchRequest({ question: { query: 'fail' } }),
    hanging: searchRequest({ question: { query: 'hang' } }),
    untilHanging: () => api.waitForRequests(1),
    stop: () => api.close(),
  };
}

async function startOffline(): Promise<StartedSearch> {
  const clock = FakeClock.instant();
  return {
    search: new OfflineSearch({ path: SHIPPED, clock, logger: new RecordingLogger(), redactor: createRedactor() }),
    answered: searchRequest({ question: { query: 'What is the weather in Tokyo today, 2026-11-20?' } }),
    failing: searchRequest({ question: { query: 'Nobody recorded this' } }),
  };
}

/** The fake returns its replies in order, so each test states which searches it makes. */
async function startFake(searches: readonly SearchKind[]): Promise<StartedSearch> {
  return {
    search: new FakeLlmSearch(...searches.map((kind) => starts('resp_1', CONFIGURED[kind]))),
    answered: searchRequest(),
    failing: searchRequest(),
    hanging: searchRequest(),
    untilHanging: settled,
  };
}

async function wrapped(start: () => Promise<StartedSearch>, wrap: (search: LlmSearch) => LlmSearch) {
  const started = await start();
  return { ...started, search: wrap(started.search) };
}

const SHIPPED = fileURLToPath(new URL('../../recordings', import.meta.url));
const PAGE = 'https://nodejs.org/en/blog';
const TEXT = `Node.js 24 is out ([Node.js](${PAGE})).`;
const CONFIGURED: Readonly<Record<SearchKind, ConfiguredReply>> = {
  answered: replies(
    {
      text: TEXT,
      searched: true,
      sources: { cited: [{ url: PAGE, title: 'Node.js' }], consulted: [], opened: [] },
      report: { queries: ['node.js 24'], searches: 1, attempts: 1 },
    },
    [{ kind: 'thinking' }, { kind: 'searching', query: 'node.js 24' }],
  ),
  failing: failsWith({ kind: 'forbidden', detail: 'No.' }),
  hanging: hangs,
};

describeLlmSearch('OpenAiResponsesSearch', startOpenAi);
describeLlmSearch('OfflineSearch', startOffline, { waits: false });
describeLlmSearch('FakeLlmSearch', startFake);
describeLlmSearch('CoalescingSearch', () => wrapped(startOpenAi, (search) => new CoalescingSearch(search)));
