import type { Result } from 'neverthrow';
import type { LlmSearch, SearchObserver, SearchReply, SearchRequest } from '../../application/ports/llm-search.ts';
import type { SearchError } from '../../domain/answer-error.ts';

/** An LlmSearch whose code loads when the first question comes, so that the server starts without it. */
export class LazySearch implements LlmSearch {
  readonly #load: () => Promise<LlmSearch>;
  #loaded: Promise<LlmSearch> | undefined;

  constructor(load: () => Promise<LlmSearch>) {
    this.#load = load;
  }

  async search(
    request: SearchRequest,
    observer: SearchObserver,
    signal: AbortSignal,
  ): Promise<Result<SearchReply, SearchError>> {
    this.#loaded ??= this.#load();
    return (await this.#loaded).search(request, observer, signal);
  }
}
