import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { ServerStatus } from '../../../application/gateway/server-description.ts';
import type { SearchUse } from '../../../application/ports/llm-search.ts';
import type { CallEvent, CallReport } from '../../../application/tools/tool-call.ts';
import { toUsd } from '../../../domain/answers/prices.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { NO_ENTRY } from './access-log.ts';
import type { LogEntry } from './request.ts';

const SERVER_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 30, 60, 300];
const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];

/** The servers, whose gateway is undefined while none are configured. */
interface Servers {
  readonly gateway: Pick<Gateway, 'servers'> | undefined;
}

type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** The metrics at `/metrics`, for Prometheus. Labels have few values: none comes from a client, or from the data of a server. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = this.#counter('http_requests_total', 'status');
  readonly #calls = this.#counter('calls_total', 'tool', 'outcome');
  readonly #seconds = this.#histogram('call_seconds', SECONDS, 'tool', 'outcome');
  readonly #searches = this.#counter('searches_total', 'tool');
  readonly #tokens = this.#counter('tokens_total', 'tool', 'kind');
  readonly #cost = this.#counter('cost_usd_total', 'tool');
  readonly #rounds = this.#counter('grounded_rounds_total', 'tool');
  readonly #ownCalls = this.#counter('own_tool_calls_total', 'tool', 'server', 'outcome');
  readonly #quotaRefused = this.#counter('quota_refused_total', 'limit');
  readonly #inFlight = new Gauge(this.#named('calls_in_flight'));
  readonly #waiting = new Gauge(this.#named('calls_waiting'));
  readonly #serverCalls = this.#counter('server_calls_total', 'server', 'outcome');
  readonly #serverSeconds = this.#histogram('server_call_seconds', SERVER_SECONDS, 'server', 'outcome');
  #renewals: Counter | undefined;
  /** Created at the first refusal, so that it does not exist without `access`. */
  #denied: Counter | undefined;
  readonly #reloaded = this.#gauge('last_reload_successful', 'part');
  readonly #reloadedAt = this.#gauge('last_reload_success_timestamp_seconds', 'part');

  constructor(version: string) {
    collectDefaultMetrics({ register: this.registry });
    this.#gauge('build_info', 'version').set({ version }, 1);
  }

  /** Registers the state of the servers, which may be loaded later. */
  registerServers(servers: Servers): void {
    this.#lookUpServers(servers, 'server_up', ['server', 'state'], ({ name, state }) => [
      { server: name, state },
      state === 'available' ? 1 : 0,
    ]);
    this.#lookUpServers(servers, 'server_restarts', ['server'], ({ name, restarts }) => [{ server: name }, restarts]);
  }

  /** Registers the tools that are not offered because they have changed. Called only with a lock, which a reload may add. */
  registerChanges(servers: Servers): void {
    if (this.registry.getSingleMetric(this.#named('tools_changed').name) !== undefined) return;
    this.#lookUpServers(servers, 'tools_changed', ['server'], ({ name, changed = [] }) => [
      { server: name },
      changed.length,
    ]);
  }

  #lookUpServers(servers: Servers, name: MetricName, labelNames: string[], toValue: (server: ServerStatus) => Value) {
    this.#lookUp(Gauge, name, labelNames, () => (servers.gateway?.servers ?? []).map(toValue));
  }

  /** Registers what is counted for each server now. */
  registerCounts(name: 'open_questions' | 'server_connections', counts: () => ReadonlyMap<string, number>): void {
    this.#lookUp(Gauge, name, ['server'], () => [...counts()].map(([server, count]) => [{ server }, count]));
  }

  /** Registers whether a service can be used on which calls depend. */
  registerState(name: 'issuer_up' | 'quota_store_up', isUp: () => boolean): void {
    this.#lookUp(Gauge, name, [], () => [[{}, isUp() ? 1 : 0]]);
  }

  /** Keeps the outcome of the last reload, at first that of the start. */
  onReload(part: ReloadedPart, isSuccessful: boolean, time: Date): void {
    this.#reloaded.set({ part }, isSuccessful ? 1 : 0);
    if (isSuccessful) this.#reloadedAt.set({ part }, time.getTime() / 1000);
  }

  /** Registers the failures of the audit. Called only if there is one. */
  registerAudit(failures: () => number): void {
    this.#lookUp(Counter, 'audit_failures_total', [], () => [[{}, failures()]]);
  }

  /** Registers the cited pages that were checked, by state. Called only if pages are checked. */
  registerChecks(counts: () => Readonly<Record<string, number>> | undefined): void {
    this.#lookUp(Counter, 'citation_checks_total', ['state'], () =>
      Object.entries(counts() ?? {}).map(([state, count]) => [{ state }, count]),
    );
  }

  /** Counts a renewal. The metric is created at the first one, so that it does not exist without logins. */
  onRenewal(server: string, outcome: string): void {
    this.#renewals ??= this.#counter('login_renewals_total', 'server', 'outcome');
    this.#renewals.inc({ server, outcome });
  }

  onResponse(status: number): void {
    this.#requests.inc({ status });
  }

  onQuotaRefused(limit: string): void {
    this.#quotaRefused.inc({ limit });
  }

  /** Counts the calls of clients and of the model. The names of servers are safe as labels: they come from the configuration. */
  on(event: CallEvent): void {
    if (event.kind !== 'ended') return;
    const { report } = event;
    const { server, tool, outcome, seconds } = report;
    if (server === BUILT_IN_SERVER && tool !== '') {
      this.#calls.inc({ tool, outcome });
      this.#seconds.observe({ tool, outcome }, seconds);
      this.#countUse(tool, report);
    } else if (server !== BUILT_IN_SERVER && server !== '') {
      this.#serverCalls.inc({ server, outcome });
      this.#serverSeconds.observe({ server, outcome }, seconds);
    }
  }

  /** Returns a reader of the events of a request's call, which counts it while it is in flight, and completes the entry in the access log. */
  observe(entry: LogEntry): (event: CallEvent) => void {
    let isAnswer = false;
    let isWaiting = false;
    const setWaiting = (isNowWaiting: boolean) => {
      if (isNowWaiting !== isWaiting) this.#waiting.inc(isNowWaiting ? 1 : -1);
      isWaiting = isNowWaiting;
    };
    return (event) => {
      switch (event.kind) {
        case 'begun':
          isAnswer = event.server === BUILT_IN_SERVER;
          if (isAnswer) this.#inFlight.inc();
          break;
        case 'searching':
          setWaiting(event.progress.kind === 'waiting');
          break;
        case 'asked':
          entry.call = { server: event.server, tool: event.tool, outcome: event.kind };
          break;
        case 'ended':
          setWaiting(false);
          if (isAnswer) this.#inFlight.dec();
          this.#complete(entry, event.report, isAnswer);
          break;
        default:
      }
    };
  }

  #complete(entry: LogEntry, report: CallReport, isAnswer: boolean): void {
    // Without a known tool or server, the request is logged without a call.
    const isKnown = report.tool !== '' || (report.server !== '' && !isAnswer);
    if (isKnown) entry.call = isAnswer ? { searches: 0, ...report, server: '' } : report;
    if (report.isDenied !== true) return;
    entry.reason = entry.isUnlisted ? NO_ENTRY : 'access';
    this.#denied ??= this.#counter('access_denied_total');
    this.#denied.inc();
  }

  #countUse(tool: string, { searches = 0, usage, rounds = 0, toolCalls = [], microUsd }: SearchUse): void {
    if (microUsd !== undefined) this.#cost.inc({ tool }, toUsd(microUsd));
    this.#searches.inc({ tool }, searches);
    if (rounds > 0) this.#rounds.inc({ tool }, rounds);
    // The names of own tools are not labels: their servers choose them, and they may contain any text.
    for (const { server, ok } of toolCalls) this.#ownCalls.inc({ tool, server, outcome: ok ? 'answered' : 'failed' });
    if (usage === undefined) return;
    for (const kind of ['input', 'cached', 'output', 'reasoning'] as const) {
      this.#tokens.inc({ tool, kind }, usage[`${kind}Tokens`]);
    }
  }

  #gauge<Label extends string>(name: MetricName, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ ...this.#named(name), labelNames });
  }

  #counter<Label extends string>(name: MetricName, ...labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ ...this.#named(name), labelNames });
  }

  #histogram<Label extends string>(name: MetricName, buckets: number[], ...labelNames: Label[]): Histogram<Label> {
    return new Histogram({ ...this.#named(name), labelNames, buckets });
  }

  #named(name: MetricName) {
    return { name: `openai_responses_mcp_${name}`, help: HELP[name], registers: [this.registry] };
  }

  /** Registers a metric whose values are looked up each time the metrics are read. */
  #lookUp(Kind: typeof Counter | typeof Gauge, name: MetricName, labelNames: string[], values: () => readonly Value[]) {
    new Kind({
      ...this.#named(name),
      labelNames,
      collect() {
        this.reset();
        for (const [labels, value] of values()) this.inc(labels, value);
      },
    });
  }
}

/** What is read again while the program serves. */
export type ReloadedPart = 'configuration' | 'token_file';

type MetricName = keyof typeof HELP;

const HELP = {
  build_info: 'Always 1; the label is the version of the program.',
  last_reload_successful:
    'Whether the last reload succeeded, by part: the configuration, or the file of tokens. A failed reload changes nothing.',
  last_reload_success_timestamp_seconds: 'When the last successful reload was, or the start; seconds since 1970.',
  issuer_up: 'Whether the keys that verify access tokens (http.oauth) could be read when they were last needed.',
  quota_store_up: 'Whether the store of the quota could be used when it was last needed.',
  http_requests_total:
    'Requests to the endpoint, by HTTP status; 499: the client closed the connection before the response.',
  calls_total: 'Finished calls of a tool, by outcome: answered, or the kind of failure.',
  call_seconds: 'Duration of calls, waits included, by outcome.',
  searches_total: 'Web searches, whatever the outcome of the call; a search that several calls shared is counted once.',
  grounded_rounds_total: 'Rounds with a reply, in calls that could use own tools; each round is a request to the API.',
  own_tool_calls_total: 'Calls of own tools within answers, by answer tool, server and outcome: answered or failed.',
  tokens_total:
    'Tokens, whatever the outcome of the call, as the API counts them; cached tokens are also input, reasoning tokens also output.',
  cost_usd_total:
    'Cost of answers in dollars, whatever the outcome of the call: an estimate by list prices; a shared search is counted once.',
  quota_refused_total:
    'Calls refused because of a quota, by the limit that is reached; unknown: the store of the quota could not be used.',
  calls_in_flight: 'Calls in progress or waiting.',
  open_questions:
    'Questions of servers that wait for the answer of a caller, in calls that continue without a request.',
  access_denied_total: 'Calls of a tool, or of a server, that access refused.',
  audit_failures_total: 'Calls whose line could not be written to the audit file.',
  server_connections: 'Open connections of callers to servers at which each caller has a login, by server.',
  login_renewals_total: 'Renewals of the logins to servers, by server and outcome: renewed, refused, failed.',
  server_calls_total:
    "Finished calls of tools of the gateway's servers, by outcome: answered, tool_error, or the kind of failure.",
  server_call_seconds: "Duration of calls of tools of the gateway's servers, waits included, by outcome.",
  server_up: 'Whether a server of the gateway is available; the label is its state.',
  server_restarts: 'Starts of a server after the first.',
  tools_changed: 'Tools of a server that are not offered, because they differ from the approved tools (gateway.lock).',
  citation_checks_total: 'Cited pages that were checked, by state: ok, dead or unreadable.',
  calls_waiting: 'Calls waiting for a slot upstream (request.max_concurrency).',
};
