import type { TokenProblem } from '../../../application/ports/callers.ts';
import { toUsd } from '../../../domain/answers/prices.ts';
import { QUOTA_UNITS, type QuotaError, type QuotaState, type QuotaUnit } from '../../../domain/values/quota.ts';
import { zonedDate, zonedTime } from '../../../domain/values/zoned-date.ts';
import { dollars, duration, INTERRUPTED } from './plain.ts';

/** The messages for refused HTTP requests: what is wrong, then what to do. */
export const REFUSALS = {
  url: 'Bad Request: Host and the request target do not form a valid URL',
  host: (shown: string) =>
    `Forbidden: host ${shown} is not allowed; add it to MCP_HTTP_ALLOWED_HOSTS (http.allowed_hosts)`,
  forwarded:
    'Forbidden: a proxy or a tunnel forwards this request, and no token is configured, so that everyone could call these tools; set MCP_HTTP_TOKEN (http.token_env), or call this server directly',
  origin: 'Forbidden: pages of this origin are not allowed; add it to MCP_HTTP_ALLOWED_ORIGINS (http.allowed_origins)',
  token: 'Unauthorized: send a valid token (Authorization: Bearer ...)',
  shortToken: (min: number) =>
    `Unauthorized: the token has fewer than ${min} characters, and other machines can reach this address; create another one with: openai-responses-mcp token <caller>`,
  tokenOf: (issuer: string) => `Unauthorized: send a token from ${issuer} (Authorization: Bearer ...)`,
  badToken: (problem: TokenProblem, issuer: string) =>
    `Unauthorized: the token ${TOKEN_PROBLEMS[problem]}; get a new one from ${issuer}`,
  scopes: (scopes: readonly string[]) =>
    `Forbidden: the token needs the scopes ${scopes.join(' ')}; authorize again with these scopes`,
  issuer: (issuer: string) =>
    `Service Unavailable: the token cannot be checked, because the keys of ${issuer} cannot be read; try again later`,
  operator: 'Forbidden: only operators may do this (access, operator: true)',
  metrics: 'Forbidden: the metrics need a right of their own (access, metrics: true, or operator: true)',
  path: (mcpPath: string) => `Not Found: MCP is served at ${mcpPath}`,
  method: (allowed: readonly string[]) => `Method Not Allowed: use ${allowed.join(' or ')}`,
  methodOfMcp: 'Method Not Allowed: send one JSON-RPC message per POST',
  versions: (known: readonly string[]) => `Invalid Request: MCP-Protocol-Version must be one of ${known.join(', ')}`,
  header: (name: string, problem: string, expected: string) =>
    `Header mismatch: ${name} header ${problem} '${expected}'`,
  contentType: 'Content-Type must be application/json',
  compressed: 'The body must not be compressed',
  unreadable: (problem: string) => `Parse error: the body ${problem}`,
  tooLarge: (max: number) => `The body must not exceed ${max} bytes (http.max_body_bytes)`,
  calls: (max: number) => `Too many calls in flight: at most ${max} per token. Try again when one has finished.`,
  earlyRestart: (server: string, waitMs: number) =>
    `The server ${server} was restarted a moment ago. Try again in ${duration(Math.max(waitMs, 100))}.`,
  shuttingDown: 'Service Unavailable: the server is shutting down',
  interrupted: INTERRUPTED,
};

/** Completes "the token ...". */
export const TOKEN_PROBLEMS: Readonly<Record<TokenProblem, string>> = {
  not_a_jwt: 'is not known here and is not a JWT',
  unsupported_header: 'has a header that is not supported',
  unsupported_algorithm: 'is not signed with an accepted algorithm',
  not_an_access_token: 'is not an access token',
  unknown_key: 'is signed with a key that the issuer does not publish',
  wrong_signature: 'has an invalid signature',
  wrong_issuer: 'is from another issuer',
  wrong_audience: 'is not for this server alone',
  expired: 'has expired',
  not_yet_valid: 'is not valid yet',
  bound_to_a_key: 'is bound to a key of its owner, which is not supported',
  invalid_claims: 'has missing or invalid claims',
  no_caller: 'does not name its owner',
};

/** The name of a limit, as in the configuration. */
export function limitName(unit: QuotaUnit): string {
  return `${unit}_per_day`;
}

/** An amount of a unit, as in the configuration: dollars rather than micro-dollars. */
export function amountOf(unit: QuotaUnit, amount: number): number {
  return unit === 'usd' ? toUsd(amount) : amount;
}

/** The message for a call that is refused because of its quota: what happened, then what to do. */
export function quotaMessage(error: QuotaError): string {
  if (error.kind === 'quota_unknown') {
    return 'The quota cannot be checked, because its store is not available. Try again soon; the reason is in the log of the server.';
  }
  const { unit, limit, endsAt, timeZone } = error;
  const end = `${zonedDate(endsAt, timeZone)} ${zonedTime(endsAt, timeZone)} (${timeZone})`;
  const reached =
    unit === 'usd' ? `: ${dollars(error.state.used.usd)} of ${dollars(limit)}` : ` (${limitName(unit)}: ${limit})`;
  return `Daily quota reached${reached}. It resets at ${end}; try again after that.`;
}

/** The limits that are set, each with the remaining quota. */
function leftOf({ limits, used }: QuotaState) {
  return QUOTA_UNITS.flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [{ unit, limit, left: Math.max(0, limit - used[unit]) }];
  });
}

/** The remaining quota, as JSON for callers. */
export function toQuotaJson(state: QuotaState): Readonly<Record<string, unknown>> {
  const entries = leftOf(state).map(
    ({ unit, limit, left }) => [limitName(unit), { limit: amountOf(unit, limit), left: amountOf(unit, left) }] as const,
  );
  return { ...Object.fromEntries(entries), ends_at: state.endsAt.toISOString() };
}

const DAY_S = 24 * 60 * 60;

/** The remaining quota, dollars as micro-dollars, as the headers of draft-ietf-httpapi-ratelimit-headers-10, with the seconds until the day ends. */
export function rateLimitHeaders(state: QuotaState): Readonly<Record<string, string>> {
  const limits = leftOf(state);
  const endsInS = Math.ceil(state.endsInMs / 1000);
  return {
    'RateLimit-Policy': limits.map(({ unit, limit }) => `"${limitName(unit)}";q=${limit};w=${DAY_S}`).join(', '),
    RateLimit: limits.map(({ unit, left }) => `"${limitName(unit)}";r=${left};t=${endsInS}`).join(', '),
  };
}
