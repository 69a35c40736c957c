import type { Answer } from '../../application/tools/tool-call.ts';
import { toUsd } from '../../domain/answers/prices.ts';
import { cleanLine, shortLine } from '../../domain/values/clean-text.ts';

const MAX_QUERIES = 50;
const MAX_LENGTH = 200;

/** The report of an answer, with its model, usage and duration, as JSON for callers. */
export function toReportJson(report: Answer['report']): Readonly<Record<string, unknown>> {
  const { usage } = report;
  const short = (text: string | undefined) => text && shortLine(text, MAX_LENGTH);
  return {
    model: short(report.model),
    response_id: short(report.responseId),
    service_tier: short(report.serviceTier),
    usage: usage && {
      input_tokens: usage.inputTokens,
      cached_tokens: usage.cachedTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    cost: report.cost && { usd: toUsd(report.cost.microUsd), prices_of: report.cost.pricesOf },
    searches: { count: report.searches, queries: report.queries.slice(0, MAX_QUERIES).map(short) },
    attempts: report.attempts,
    seconds: Math.round(report.seconds * 1000) / 1000,
    rounds: report.rounds,
    dates: report.dates,
    checks: report.checks,
    tool_calls: report.toolCalls?.map((call) => ({ ...call, tool: cleanLine(call.tool), ms: Math.round(call.ms) })),
    unavailable_servers: report.unavailableServers,
    login_required: report.loginRequired,
    // If true, another call accounts for the same tokens and searches.
    shared: report.isShared,
    state: report.state,
    handle: report.handle,
  };
}
