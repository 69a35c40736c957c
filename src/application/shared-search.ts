import { err, type Result } from 'neverthrow';
import type { SearchError } from '../domain/answer-error.ts';
import type { LlmSearch, SearchObserver, SearchProgress, SearchReply, SearchRequest } from './ports/llm-search.ts';

interface Member {
  readonly observer: SearchObserver;
  readonly deadlineMs: number;
}

/** One search that runs, and those who wait for it. */
interface Flight {
  readonly members: Set<Member>;
  readonly controller: AbortController;
  readonly reply: Promise<Result<SearchReply, SearchError>>;
  latest: SearchProgress | undefined;
}

/**
 * Asked twice, paid once: a question that is already being searched for the same caller joins that search, as happens
 * when a client gives up and asks again. Each caller hears progress, gets the reply and can leave; the search itself stops
 * when the last one has left.
 */
export class SharedSearch implements LlmSearch {
  readonly #llmSearch: LlmSearch;
  readonly #flights = new Map<string, Flight>();

  constructor(llmSearch: LlmSearch) {
    this.#llmSearch = llmSearch;
  }

  async search(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>> {
    if (signal.aborted) return err({ kind: 'aborted' });
    const { caller, question, profile, today } = request;
    const key = JSON.stringify([caller, question, profile, today]);
    const member: Member = { observer, deadlineMs: request.deadlineMs };
    const flight = this.#flights.get(key) ?? this.#begin(key, request, member);
    if (!flight.members.has(member)) {
      flight.members.add(member);
      if (flight.latest !== undefined) observer.onProgress(flight.latest);
    }
    return this.#wait(key, flight, member, signal);
  }

  #begin(key: string, request: SearchRequest, first: Member): Flight {
    const members = new Set([first]);
    const controller = new AbortController();
    const shared: SearchRequest = {
      ...request,
      // Whoever came last waits longest.
      get deadlineMs() {
        return Math.max(...[...members].map(({ deadlineMs }) => deadlineMs));
      },
    };
    const onProgress = (progress: SearchProgress) => {
      flight.latest = progress;
      for (const { observer } of members) observer.onProgress(progress);
    };
    const flight: Flight = {
      members,
      controller,
      latest: undefined,
      // Begun a moment later, so that the flight is known before anything can be heard of it.
      reply: Promise.resolve()
        .then(() => this.#llmSearch.search(shared, { onProgress }, controller.signal))
        .finally(() => this.#end(key, flight)),
    };
    this.#flights.set(key, flight);
    return flight;
  }

  #wait(key: string, flight: Flight, member: Member, signal: AbortSignal): Promise<Result<SearchReply, SearchError>> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        flight.members.delete(member);
        if (flight.members.size === 0) {
          this.#end(key, flight);
          flight.controller.abort();
        }
        resolve(err({ kind: 'aborted' }));
      };
      const stay = () => signal.removeEventListener('abort', leave);
      signal.addEventListener('abort', leave, { once: true });
      flight.reply.then(
        (reply) => {
          stay();
          resolve(reply);
        },
        (bug) => {
          stay();
          reject(bug);
        },
      );
    });
  }

  /** Who asks from now on begins anew. */
  #end(key: string, flight: Flight): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
