import { once } from 'node:events';
import { err, ok, type Result } from 'neverthrow';
import type { ApiProbe, FoundModel as Found } from '../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../src/domain/answers/answer-error.ts';

type Reach = Result<number, SearchError>;
type FoundModel = Result<Found, SearchError>;

export interface FakeApiProbeOptions {
  readonly reach?: Reach | 'hangs';
  readonly findModel?: (model: string) => FoundModel | 'hangs';
}

/** Reaches the API and finds every model unless configured otherwise; records the models and the signals. */
export class FakeApiProbe implements ApiProbe {
  readonly route = 'api.test';
  readonly models: string[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #reach: Reach | 'hangs';
  readonly #findModel: (model: string) => FoundModel | 'hangs';

  constructor({ reach = ok(401), findModel = () => ok('found') }: FakeApiProbeOptions = {}) {
    this.#reach = reach;
    this.#findModel = findModel;
  }

  reach(signal: AbortSignal): Promise<Reach> {
    this.signals.push(signal);
    return outcomeOf(this.#reach, signal);
  }

  findModel(model: string, signal: AbortSignal): Promise<FoundModel> {
    this.models.push(model);
    this.signals.push(signal);
    return outcomeOf(this.#findModel(model), signal);
  }
}

/** The configured outcome, one microtask later, so that an abort on the line after the call is not missed. */
async function outcomeOf<T>(
  configured: Result<T, SearchError> | 'hangs',
  signal: AbortSignal,
): Promise<Result<T, SearchError>> {
  await Promise.resolve();
  if (configured === 'hangs' && !signal.aborted) await once(signal, 'abort');
  return configured === 'hangs' || signal.aborted ? err({ kind: 'aborted' }) : configured;
}
