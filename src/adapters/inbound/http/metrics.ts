import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallReport, CallWatcher } from './call-watch.ts';

const PREFIX = 'openai_responses_mcp_';
const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];

/** What Prometheus reads at `/metrics`: numbers, and labels from short fixed lists; never a text. */
export class Metrics implements CallWatcher {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'Requests to the endpoint, by HTTP status; 499: the client left before it was answered.',
    labelNames: ['status'] as const,
    registers: [this.#registry],
  });
  readonly #calls = new Counter({
    name: `${PREFIX}calls_total`,
    help: 'Calls of a tool that ended, by outcome: answered, or the kind of failure.',
    labelNames: ['tool', 'outcome'] as const,
    registers: [this.#registry],
  });
  readonly #seconds = new Histogram({
    name: `${PREFIX}call_seconds`,
    help: 'How long calls took, waits included.',
    labelNames: ['tool'] as const,
    buckets: SECONDS,
    registers: [this.#registry],
  });
  readonly #searches = new Counter({
    name: `${PREFIX}searches_total`,
    help: 'Web searches that ran for answered calls.',
    labelNames: ['tool'] as const,
    registers: [this.#registry],
  });
  readonly #tokens = new Counter({
    name: `${PREFIX}tokens_total`,
    help: 'Tokens of answered calls as the API counts them; cached ones are input too, reasoning ones output.',
    labelNames: ['tool', 'kind'] as const,
    registers: [this.#registry],
  });
  readonly #inFlight = new Gauge({
    name: `${PREFIX}calls_in_flight`,
    help: 'Calls that run or wait now.',
    registers: [this.#registry],
  });
  readonly #waiting = new Gauge({
    name: `${PREFIX}calls_waiting`,
    help: 'Calls that wait now for a place upstream (request.max_concurrency).',
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  answered(status: number): void {
    this.#requests.inc({ status });
  }

  began(): void {
    this.#inFlight.inc();
  }

  waits(isWaiting: boolean): void {
    if (isWaiting) this.#waiting.inc();
    else this.#waiting.dec();
  }

  ended({ tool, outcome, seconds, searches, usage }: CallReport): void {
    this.#inFlight.dec();
    this.#calls.inc({ tool, outcome });
    this.#seconds.observe({ tool }, seconds);
    this.#searches.inc({ tool }, searches);
    if (usage === undefined) return;
    this.#tokens.inc({ tool, kind: 'input' }, usage.inputTokens);
    this.#tokens.inc({ tool, kind: 'cached' }, usage.cachedTokens);
    this.#tokens.inc({ tool, kind: 'output' }, usage.outputTokens);
    this.#tokens.inc({ tool, kind: 'reasoning' }, usage.reasoningTokens);
  }
}
