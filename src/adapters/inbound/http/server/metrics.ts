import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ToolCallReport } from '../../../../application/gateway/call-tool.ts';
import type { Gateway } from '../../../../application/gateway/gateway.ts';
import type { ServerStatus } from '../../../../application/gateway/server-supervisor.ts';
import type { SearchUse } from '../../../../application/ports/llm-search.ts';
import type { CallReport } from '../../mcp/call-meter.ts';

const SERVER_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 30, 60, 300];
const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];

/** The metrics at `/metrics`, for Prometheus. Labels have values from short, fixed lists, and never contain text. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = this.#counter('http_requests_total', 'status');
  readonly #calls = this.#counter('calls_total', 'tool', 'outcome');
  readonly #seconds = new Histogram({ ...this.#named('call_seconds'), labelNames: ['tool'], buckets: SECONDS });
  readonly #searches = this.#counter('searches_total', 'tool');
  readonly #tokens = this.#counter('tokens_total', 'tool', 'kind');
  readonly #rounds = this.#counter('grounded_rounds_total', 'tool');
  readonly #ownCalls = this.#counter('own_tool_calls_total', 'tool', 'server', 'outcome');
  readonly #quotaRefused = this.#counter('quota_refused_total', 'limit');
  readonly #inFlight = new Gauge(this.#named('calls_in_flight'));
  readonly #waiting = new Gauge(this.#named('calls_waiting'));

  readonly #serverCalls = this.#counter('server_calls_total', 'server', 'outcome');
  #renewals: Counter | undefined;
  readonly #serverSeconds = new Histogram({
    ...this.#named('server_call_seconds'),
    labelNames: ['server'],
    buckets: SERVER_SECONDS,
  });

  constructor(gateway: () => Gateway | undefined) {
    collectDefaultMetrics({ register: this.registry });
    const ofServers = (name: MetricName, labelNames: string[], set: (gauge: Gauge, server: ServerStatus) => void) =>
      new Gauge({
        ...this.#named(name),
        labelNames,
        collect() {
          this.reset();
          for (const server of gateway()?.servers ?? []) set(this, server);
        },
      });
    ofServers('server_up', ['server', 'state'], (gauge, { name, state }) =>
      gauge.set({ server: name, state }, state === 'available' ? 1 : 0),
    );
    ofServers('server_restarts', ['server'], (gauge, { name, restarts }) => gauge.set({ server: name }, restarts));
  }

  /** The names of servers come from the configuration only. */
  onServerCallEnded({ server, outcome, seconds }: ToolCallReport): void {
    if (server === '') return;
    this.#serverCalls.inc({ server, outcome });
    this.#serverSeconds.observe({ server }, seconds);
  }

  /** Without a renewal, there is no such metric. */
  onRenewal(server: string, outcome: string): void {
    this.#renewals ??= this.#counter('login_renewals_total', 'server', 'outcome');
    this.#renewals.inc({ server, outcome });
  }

  onResponse(status: number): void {
    this.#requests.inc({ status });
  }

  /** `limit` is the name of a limit, or `unknown` if the store failed. */
  onQuotaRefused(limit: string): void {
    this.#quotaRefused.inc({ limit });
  }

  onStarted(): void {
    this.#inFlight.inc();
  }

  onWaiting(isWaiting: boolean): void {
    if (isWaiting) this.#waiting.inc();
    else this.#waiting.dec();
  }

  onEnded({ tool, outcome, seconds, ...use }: CallReport): void {
    this.#inFlight.dec();
    this.#calls.inc({ tool, outcome });
    this.#seconds.observe({ tool }, seconds);
    this.onUsed(tool, use);
  }

  /** What a call used, or what a search used that has outlived its call. */
  onUsed(tool: string, { searches = 0, usage, rounds = 0, toolCalls = [] }: SearchUse): void {
    this.#searches.inc({ tool }, searches);
    if (rounds > 0) this.#rounds.inc({ tool }, rounds);
    // The names of tools are text of their servers; those of servers come from the configuration.
    for (const { server, ok } of toolCalls) this.#ownCalls.inc({ tool, server, outcome: ok ? 'answered' : 'failed' });
    if (usage === undefined) return;
    for (const kind of ['input', 'cached', 'output', 'reasoning'] as const) {
      this.#tokens.inc({ tool, kind }, usage[`${kind}Tokens`]);
    }
  }

  /** The cited pages that were checked, by state; only if they are (ruling E16). */
  registerChecks(counts: () => Readonly<Record<string, number>> | undefined): void {
    new Counter({
      ...this.#named('citation_checks_total'),
      labelNames: ['state'],
      collect() {
        this.reset();
        for (const [state, count] of Object.entries(counts() ?? {})) this.inc({ state }, count);
      },
    });
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
  searches_total: 'Web searches, whatever the outcome of the call; a search that several calls shared is counted once.',
  grounded_rounds_total: 'Rounds that got a reply, of calls that could use own tools; each is a request to the API.',
  own_tool_calls_total:
    "Calls of the gateway's servers within answers, by the tool that answered, the server and the outcome: answered or failed.",
  tokens_total:
    'Tokens, whatever the outcome of the call, as the API counts them; cached tokens are also input, reasoning tokens also output.',
  quota_refused_total:
    'Calls refused because of a quota, by the limit that is reached; unknown: the store of the quota could not be used.',
  calls_in_flight: 'Calls in progress or waiting.',
  login_renewals_total: 'Renewals of the logins to servers, by server and outcome: renewed, refused, failed.',
  server_calls_total:
    "Finished calls of tools of the gateway's servers, by outcome: answered, tool_error, or the kind of failure.",
  server_call_seconds: "Duration of calls of tools of the gateway's servers, waits included.",
  server_up: 'Whether a server of the gateway is available; the label is its state.',
  server_restarts: 'Starts of a server after the first.',
  citation_checks_total: 'Cited pages that were checked, by state: ok, dead or unreadable.',
  calls_waiting: 'Calls waiting for a slot upstream (request.max_concurrency).',
};
