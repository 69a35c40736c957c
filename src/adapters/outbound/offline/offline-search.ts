import type { Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/clock.ts';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../../../application/ports/llm-search.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { tokyoDate } from '../../../domain/tokyo-date.ts';
import { createApiCall } from '../openai/api-client.ts';
import { OpenAiResponsesSearch } from '../openai/openai-responses-search.ts';
import type { Recording } from './recording.ts';
import type { Recordings } from './recordings.ts';

export interface OfflineSearchOptions {
  readonly recordings: Recordings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}

/**
 * Answers from recorded replies, without key or network: the real adapter, whose requests are answered by a recording
 * instead of the API. So every recorded reply and error takes the way that it takes in earnest.
 */
export class OfflineSearch implements LlmSearch {
  readonly #recordings: Recordings;
  readonly #search: OpenAiResponsesSearch;

  constructor({ recordings, clock, logger, redactor }: OfflineSearchOptions) {
    this.#recordings = recordings;
    this.#search = new OpenAiResponsesSearch({
      callFor: (request) =>
        recordings.find(request.question).map((recording) =>
          createApiCall({
            apiKey: 'none',
            baseUrl: 'http://offline.invalid/v1',
            fetch: async () => replay(recording),
          }),
        ),
      request: { store: false, domainFilter: 'hint' },
      maxRetries: 0,
      apiKeyVariable: 'OPENAI_API_KEY',
      baseUrl: 'http://offline.invalid/v1',
      datesFromReply: true,
      clock,
      logger,
      redactor,
    });
  }

  /** The dates of an answer are the recording's (ruling 22): the reply's own, else the day of the recording. */
  async search(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>> {
    const reply = await this.#search.search(request, observer, signal);
    const recording = this.#recordings.find(request.question);
    if (recording.isErr()) return reply;
    const { recordedAt, file } = recording.value;
    return reply
      .map((reply) => (recordedAt === undefined ? reply : { accessedOn: tokyoDate(recordedAt), ...reply }))
      .mapErr((error) => toOfflineError(error, file));
  }
}

/** What would be the network's fault, or the API's, is the recording's. */
function toOfflineError(error: SearchError, file: string): SearchError {
  const isFilesFault = error.kind === 'connection_failed' || error.kind === 'unreadable_reply';
  return isFilesFault ? { kind: 'unreadable_recordings', path: file, detail: error.detail } : error;
}

function replay({ body, contentType, status }: Recording): Response {
  return new Response(body, { status, headers: { 'content-type': contentType } });
}
