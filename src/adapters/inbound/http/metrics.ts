import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallObserver, CallReport } from '../mcp/call-meter.ts';

const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];

/** The metrics at `/metrics`, for Prometheus. Labels have values from short, fixed lists, and never contain text. */
export class Metrics implements CallObserver {
  readonly registry = new Registry();
  readonly #requests = this.#counter('http_requests_total', 'status');
  readonly #calls = this.#counter('calls_total', 'tool', 'outcome');
  readonly #seconds = new Histogram({ ...this.#named('call_seconds'), labelNames: ['tool'], buckets: SECONDS });
  readonly #searches = this.#counter('searches_total', 'tool');
  readonly #tokens = this.#counter('tokens_total', 'tool', 'kind');
  readonly #inFlight = new Gauge(this.#named('calls_in_flight'));
  readonly #waiting = new Gauge(this.#named('calls_waiting'));

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  onResponse(status: number): void {
    this.#requests.inc({ status });
  }

  onStarted(): void {
    this.#inFlight.inc();
  }

  onWaiting(isWaiting: boolean): void {
    if (isWaiting) this.#waiting.inc();
    else this.#waiting.dec();
  }

  onEnded({ tool, outcome, seconds, searches, usage }: CallReport): void {
    this.#inFlight.dec();
    this.#calls.inc({ tool, outcome });
    this.#seconds.observe({ tool }, seconds);
    this.#searches.inc({ tool }, searches);
    if (usage === undefined) return;
    for (const kind of ['input', 'cached', 'output', 'reasoning'] as const) {
      this.#tokens.inc({ tool, kind }, usage[`${kind}Tokens`]);
    }
  }

  #counter<Label extends string>(name: MetricName, ...labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ ...this.#named(name), labelNames });
  }

  #named(name: MetricName) {
    return { name: `openai_responses_mcp_${name}`, help: HELP[name], registers: [this.registry] };
  }
}

type MetricName = keyof typeof HELP;

const HELP = {
  http_requests_total:
    'Requests to the endpoint, by HTTP status; 499: the client closed the connection before the response.',
  calls_total: 'Finished calls of a tool, by outcome: answered, or the kind of failure.',
  call_seconds: 'Duration of calls, waits included.',
  searches_total: 'Web searches of answered calls; a search that several calls shared is counted once.',
  tokens_total:
    'Tokens of answered calls as the API counts them; cached tokens are also input, reasoning tokens also output.',
  calls_in_flight: 'Calls in progress or waiting.',
  calls_waiting: 'Calls waiting for a slot upstream (request.max_concurrency).',
};
