export type MetricName = keyof typeof METRIC_HELP;

/** What each metric counts, as monitoring shows it. */
export const METRIC_HELP = {
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
  logins: 'Logins of callers to servers at which each caller has one, by server.',
  login_failures_total: 'Logins of callers that began and failed, by server.',
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
