import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { ServerStatus } from '../../../application/gateway/server-description.ts';
import type { SearchUse } from '../../../application/ports/llm-search.ts';
import type { CallEvent, CallReport } from '../../../application/tools/tool-call.ts';
import { toUsd } from '../../../domain/answers/prices.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { METRIC_HELP, type MetricName } from '../words/metric-help.ts';
import { NO_ENTRY } from './access-log.ts';
import type { LogEntry } from './request.ts';

const SERVER_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 5, 15, 30, 60, 300];
const SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];

/** The servers, whose gateway is undefined while none are configured. */
interface Servers {
  readonly gateway: Pick<Gateway, 'servers'> | undefined;
}

type Counts = ReadonlyMap<string, number>;

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
  #loginFailures: Counter | undefined;
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
  registerCounts(
    name: 'open_questions' | 'server_connections' | 'logins',
    counts: () => Counts | Promise<Counts>,
  ): void {
    this.#lookUp(Gauge, name, ['server'], async () =>
      [...(await counts())].map(([server, count]) => [{ server }, count]),
    );
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

  /** Counts a login of a caller that failed; created at the first one, too. */
  onLoginFailure(server: string): void {
    this.#loginFailures ??= this.#counter('login_failures_total', 'server');
    this.#loginFailures.inc({ server });
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
    return { name: `openai_responses_mcp_${name}`, help: METRIC_HELP[name], registers: [this.registry] };
  }

  /** Registers a metric whose values are looked up each time the metrics are read. */
  #lookUp(
    Kind: typeof Counter | typeof Gauge,
    name: MetricName,
    labelNames: string[],
    values: () => readonly Value[] | Promise<readonly Value[]>,
  ) {
    new Kind({
      ...this.#named(name),
      labelNames,
      async collect() {
        const current = await values();
        this.reset();
        for (const [labels, value] of current) this.inc(labels, value);
      },
    });
  }
}

/** What is read again while the program serves. */
export type ReloadedPart = 'configuration' | 'token_file';
