import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchRequest,
} from '../../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../../domain/answers/answer-error.ts';
import type { Question } from '../../../../domain/answers/question.ts';
import { reasonOf } from '../../../../domain/values/certificate-problem.ts';
import { zonedDate } from '../../../../domain/values/zoned-date.ts';
import { ApiClient } from '../api-client.ts';
import { OpenAiResponsesSearch, type OpenAiResponsesSearchOptions } from '../openai-responses-search.ts';
import { ResponseEvents } from '../response-events.ts';
import { readResponse } from '../response-reader.ts';
import { toSearchReply } from '../search-reply.ts';
import { bySimilarity } from './by-similarity.ts';
import { questionKey } from './question-key.ts';
import { parseRecording, type Recording, roundIn, roundsIn } from './recording.ts';

type Options = Pick<OpenAiResponsesSearchOptions, 'clock' | 'logger' | 'redactor'> & {
  /** A folder of recordings, which are found by their question; or one file, which answers every question. */
  readonly path: string;
};

type RecordingFile = Recording & { readonly file: string };

/** The most questions that are offered in place of one without a recording. */
const MAX_OFFERED = 5;

const BASE_URL = 'http://offline.invalid/v1';

/** Answers from recordings: the OpenAI adapter with a `fetch` that returns a recording. */
export class OfflineSearch implements LlmSearch {
  readonly #path: string;
  readonly #options: Omit<Options, 'path'>;
  readonly #search: OpenAiResponsesSearch;
  #recordings: Result<readonly RecordingFile[], SearchError> | undefined;

  constructor({ path, ...options }: Options) {
    this.#path = path;
    this.#options = options;
    this.#search = new OpenAiResponsesSearch({
      ...options,
      callFor: (_, { question, mode }) =>
        this.#find(question).map(({ body, status }) => {
          const round = roundIn(body, typeof mode === 'object' ? mode.rounds.length : 0);
          const fetch = async () => new Response(round, { status });
          return new ApiClient({ apiKey: 'none', baseUrl: BASE_URL, fetch });
        }),
      request: { store: false, domainFilter: 'hint' },
      maxRetries: 0,
      apiKeyVariable: 'OPENAI_API_KEY',
      route: BASE_URL,
      datesFromReply: true,
    });
  }

  /**
   * Answers from a recording. In a conversation, own tools really run, and only the API is replayed. The dates of an answer are those of the
   * reply or, without any, the day of the recording.
   */
  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const outcome = await this.#search.search(request, observer, signal);
    const recording = this.#find(request.question);
    if (recording.isErr())
      return recording.error.kind === 'not_recorded' ? err(await this.#notRecorded(request.question)) : outcome;
    const { recordedAt, file } = recording.value;
    const recordedOn = recordedAt && zonedDate(recordedAt, request.timeZone);
    return outcome
      .map((reply) => ({ ...reply, accessedOn: reply.accessedOn ?? recordedOn }))
      .mapErr((error) => toOfflineError(error, file));
  }

  /** The recording of a question: by the same tool if there is one, else by any tool. */
  #find({ query, tool }: Pick<Question, 'query' | 'tool'>): Result<RecordingFile, SearchError> {
    this.#recordings ??= load(this.#path);
    return this.#recordings.andThen((list) => {
      const key = questionKey(query);
      const same = list.filter(({ question }) => question === undefined || questionKey(question) === key);
      const found = same.find((recording) => recording.tool === tool) ?? same[0];
      const notRecorded: SearchError = { kind: 'not_recorded', offered: [], others: 0 };
      return found === undefined ? err<RecordingFile, SearchError>(notRecorded) : ok(found);
    });
  }

  /** Offers the recorded questions that are most similar and have a complete answer: one that was refused or cut is no good example. */
  async #notRecorded({ query, tool }: Question): Promise<SearchError> {
    const list = this.#recordings?.unwrapOr([]) ?? [];
    const questions = [...new Set(list.flatMap(({ question = [] }) => question))];
    const offered: string[] = [];
    for (const question of bySimilarity(questions, query)) {
      const recording = this.#find({ query: question, tool });
      if (recording.isOk() && (await this.#isComplete(recording.value))) offered.push(question);
      if (offered.length === MAX_OFFERED) break;
    }
    return { kind: 'not_recorded', offered, others: questions.length - offered.length };
  }

  async #isComplete({ body, status }: Recording): Promise<boolean> {
    const { clock, redactor } = this.#options;
    const context = { model: '', apiKeyVariable: '', route: BASE_URL, attempt: 1, redactor };
    const open = async () => new Response(roundsIn(body).at(-1), { status });
    const response = await readResponse(open, { events: new ResponseEvents(context), clock });
    const reply = response.andThen((response) => toSearchReply(response, context));
    return status === 200 && reply.isOk() && reply.value.ending.kind === 'complete';
  }
}

/** Loads a file, which then answers every question, or the recordings of a folder that have a question. */
function load(path: string): Result<readonly RecordingFile[], SearchError> {
  try {
    if (!statSync(path).isDirectory()) {
      const { question: _, ...recording } = read(path);
      return ok([recording]);
    }
    const files = readdirSync(path).filter((name) => /\.(?:json|sse)$/.test(name));
    const list = files.sort().map((name) => read(join(path, name)));
    return ok(list.filter(({ question }) => question !== undefined));
  } catch (error) {
    return err({ kind: 'unreadable_recordings', path, detail: reasonOf(error) });
  }
}

function read(file: string): RecordingFile {
  return { ...parseRecording(readFileSync(file, 'utf8')), file };
}

/** Blames an error on the file of the recording, where it would otherwise be blamed on the network or the API. */
function toOfflineError(error: SearchError, file: string): SearchError {
  const isInFile = error.kind === 'connection_failed' || error.kind === 'unreadable_reply';
  return isInFile ? { kind: 'unreadable_recordings', path: file, detail: error.detail } : error;
}
