import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchRequest,
} from '../../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../../domain/answers/answer-error.ts';
import { zonedDate } from '../../../../domain/values/zoned-date.ts';
import { createApiCall } from '../api-client.ts';
import { OpenAiResponsesSearch, type OpenAiResponsesSearchOptions } from '../openai-responses-search.ts';
import { roundIn } from './recording.ts';
import type { Recordings } from './recordings.ts';

type Options = Pick<OpenAiResponsesSearchOptions, 'clock' | 'logger' | 'redactor'> & {
  readonly recordings: Recordings;
};

const BASE_URL = 'http://offline.invalid/v1';

/** Answers from recordings: the OpenAI adapter with a `fetch` that returns a recording. */
export class OfflineSearch implements LlmSearch {
  readonly #recordings: Recordings;
  readonly #search: OpenAiResponsesSearch;

  constructor({ recordings, ...options }: Options) {
    this.#recordings = recordings;
    this.#search = new OpenAiResponsesSearch({
      ...options,
      callFor: (request) =>
        recordings.find(request.question).map(({ body, contentType, status }) => {
          const round = roundIn(body, request.conversation?.rounds.length ?? 0);
          const fetch = async () => new Response(round, { status, headers: { 'content-type': contentType } });
          return createApiCall('none', { baseUrl: BASE_URL, fetch });
        }),
      request: { store: false, domainFilter: 'hint' },
      maxRetries: 0,
      apiKeyVariable: 'OPENAI_API_KEY',
      route: BASE_URL,
      datesFromReply: true,
    });
  }

  /**
   * In a conversation, the tools run; only the API is replayed (ruling L28). The dates of an answer are those of the recording (ruling 22): of
   * the reply, else of the day of the recording. Nothing continues at the API (ruling K4).
   */
  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const outcome = await this.#search.search({ ...request, isLong: false }, observer, signal);
    const recording = this.#recordings.find(request.question);
    if (recording.isErr()) return outcome;
    const { recordedAt, file } = recording.value;
    const recordedOn = recordedAt && zonedDate(recordedAt, request.timeZone);
    return outcome
      .map((reply) => ({ ...reply, accessedOn: reply.accessedOn ?? recordedOn }))
      .mapErr((error) => toOfflineError(error, file));
  }
}

/** An error that would otherwise be blamed on the network or the API is one of the recording. */
function toOfflineError(error: SearchError, file: string): SearchError {
  const isInFile = error.kind === 'connection_failed' || error.kind === 'unreadable_reply';
  return isInFile ? { kind: 'unreadable_recordings', path: file, detail: error.detail } : error;
}
