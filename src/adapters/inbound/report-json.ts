import type { Answer } from '../../application/answers/answer.ts';
import { cleanLine, shortLine } from '../../domain/values/clean-text.ts';

const MAX_QUERIES = 50;
const MAX_LENGTH = 200;

/** What an answer took, as JSON for callers. */
export function toReportJson(report: Answer['report']): Readonly<Record<string, unknown>> {
  const { model, responseId, usage, queries, searches, attempts, seconds, isShared } = report;
  const { rounds, toolCalls, unavailableServers, loginRequired, state, handle } = report;
  return {
    model: model && shortLine(model, MAX_LENGTH),
    response_id: responseId && shortLine(responseId, MAX_LENGTH),
    service_tier: report.serviceTier && shortLine(report.serviceTier, MAX_LENGTH),
    usage: usage && {
      input_tokens: usage.inputTokens,
      cached_tokens: usage.cachedTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    searches: { count: searches, queries: queries.slice(0, MAX_QUERIES).map((query) => shortLine(query, MAX_LENGTH)) },
    attempts,
    seconds: Math.round(seconds * 1000) / 1000,
    rounds,
    dates: report.dates,
    checks: report.checks,
    tool_calls: toolCalls?.map(({ server, tool, ms, ok }) => ({
      server,
      tool: cleanLine(tool),
      ms: Math.round(ms),
      ok,
    })),
    unavailable_servers: unavailableServers,
    login_required: loginRequired,
    // Another call accounts for these tokens and searches.
    shared: isShared,
    state,
    handle,
  };
}
