import type { Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../domain/answer-error.ts';
import { profileFor } from '../domain/model-profile.ts';
import { TOOL_NAMES } from '../domain/tool-name.ts';
import type { AnswerQuery } from './answer-query.ts';
import type { ApiProbe } from './ports/api-probe.ts';
import type { Clock } from './ports/clock.ts';
import type { Config } from './ports/config.ts';

/** One thing that was looked at. An error says why it failed; `detail` what was seen. */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  readonly error?: AnswerError;
}

/** Failures that a question would meet again. */
const REFUSALS: ReadonlySet<AnswerError['kind']> = new Set([
  'malformed_api_key',
  'rejected_api_key',
  'forbidden',
  'model_not_found',
]);

const PROBE_MS = 15_000;
const SEARCH_QUESTION = 'Search the web: which is the current stable release of Node.js? Answer in one line.';

/** Tries the way to an answer step by step: the base URL, each profile's model, a web search. */
export class DiagnoseSetup {
  readonly #makeProbe: () => Promise<ApiProbe>;
  readonly #answerQuery: AnswerQuery;
  readonly #clock: Clock;
  readonly #config: Config;

  constructor(makeProbe: () => Promise<ApiProbe>, answerQuery: AnswerQuery, clock: Clock, config: Config) {
    this.#makeProbe = makeProbe;
    this.#answerQuery = answerQuery;
    this.#clock = clock;
    this.#config = config;
  }

  /** Yields each check as it is done. Without a key only the connection can be tried. */
  async *execute(hasKey: boolean, signal: AbortSignal): AsyncGenerator<Check> {
    const probe = await this.#makeProbe();
    const reached = await this.#bounded(probe, signal, (signal) => probe.reach(signal));
    yield toCheck('connection', reached, () => ({
      verdict: 'ok',
      detail: `${probe.route} can be reached`,
    }));
    if (!hasKey || reached.isErr()) {
      const why = hasKey ? 'the API cannot be reached' : 'there is no key';
      yield { name: 'models', verdict: 'skipped', detail: why };
      yield { name: 'web search', verdict: 'skipped', detail: why };
      return;
    }
    const unusable: (string | undefined)[] = [];
    for (const [model, tools] of this.#models()) {
      const found = await this.#bounded(probe, signal, (signal) => probe.findModel(model, signal));
      if (found.isErr() && REFUSALS.has(found.error.kind)) unusable.push(model);
      yield toCheck(`model ${model}`, found, (answer) =>
        answer === 'found'
          ? { verdict: 'ok', detail: `for ${tools.join(', ')}` }
          : { verdict: 'skipped', detail: 'this server does not tell which models it has' },
      );
    }
    if (unusable.includes(profileFor('answer_quick', this.#config.profiles)?.model)) {
      yield { name: 'web search', verdict: 'skipped', detail: 'its model cannot be used' };
    } else {
      yield await this.#search(signal);
    }
  }

  async #search(signal: AbortSignal): Promise<Check> {
    const answer = await this.#answerQuery.execute(
      {
        requestKey: 'doctor',
        caller: 'doctor',
        tool: 'answer_quick',
        args: { query: SEARCH_QUESTION },
        observer: { onProgress: () => {} },
      },
      signal,
    );
    return toCheck('web search', answer, ({ result, report }) => ({
      verdict: result.used_search ? 'ok' : 'warning',
      detail: result.used_search
        ? `answered with ${sources(result.citations.length)} in ${report.seconds.toFixed(1)} s`
        : 'answered, but without a search: the model of answer_quick may not support web_search',
    }));
  }

  /** Each model that a profile names, and the tools that use it. */
  #models(): ReadonlyMap<string, readonly string[]> {
    const models = new Map<string, readonly string[]>();
    for (const tool of TOOL_NAMES) {
      const model = profileFor(tool, this.#config.profiles)?.model;
      if (model !== undefined) models.set(model, [...(models.get(model) ?? []), tool]);
    }
    return models;
  }

  async #bounded<T>(
    { route }: ApiProbe,
    signal: AbortSignal,
    look: (signal: AbortSignal) => Promise<Result<T, SearchError>>,
  ): Promise<Result<T, AnswerError>> {
    const stop = new AbortController();
    const settled = new AbortController();
    const onAbort = () => stop.abort();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void this.#clock.sleep(PROBE_MS, settled.signal).then((outcome) => {
      if (outcome === 'elapsed') stop.abort();
    });
    try {
      const outcome = await look(stop.signal);
      return outcome.mapErr((error): AnswerError => {
        if (error.kind !== 'aborted') return error;
        if (signal.aborted) return { kind: 'cancelled' };
        const detail = `No answer within ${PROBE_MS / 1000} s`;
        return { kind: 'connection_failed', attempts: 1, host: route, detail };
      });
    } finally {
      settled.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }
}

function sources(count: number): string {
  return count === 1 ? '1 source' : `${count} sources`;
}

function toCheck<T>(
  name: string,
  outcome: Result<T, AnswerError>,
  seen: (value: T) => Pick<Check, 'verdict' | 'detail'>,
): Check {
  return outcome.isOk()
    ? { name, ...seen(outcome.value) }
    : { name, verdict: 'failed', detail: outcome.error.kind, error: outcome.error };
}
