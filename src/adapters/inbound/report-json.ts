import type { Answer } from '../../application/answer-query.ts';
import { cleanLine } from '../../domain/clean-text.ts';
import { withoutUndefined } from '../../domain/json.ts';

/** What an answer took, as JSON for callers. */
export function toReportJson(report: Answer['report']): Readonly<Record<string, unknown>> {
  const { model, responseId, usage, queries, searches, attempts, seconds, isShared } = report;
  const { rounds, toolCalls, unavailableServers } = report;
  return withoutUndefined({
    model: model && cleanLine(model),
    response_id: responseId && cleanLine(responseId),
    service_tier: report.serviceTier && cleanLine(report.serviceTier),
    usage: usage && {
      input_tokens: usage.inputTokens,
      cached_tokens: usage.cachedTokens,
      output_tokens: usage.outputTokens,
      reasoning_tokens: usage.reasoningTokens,
      ...withoutUndefined({ cacheWriteTokens: usage.cacheWriteTokens }),
    },
    searches: { count: searches, queries: queries.map(cleanLine) },
    attempts,
    seconds: Math.round(seconds * 1000) / 1000,
    rounds,
    dates: report.dates,
    toolCalls: toolCalls?.map(({ server, tool, ms, ok }) => ({
      server,
      tool: cleanLine(tool),
      ms: Math.round(ms),
      ok,
    })),
    unavailableServers,
    // Another call accounts for these tokens and searches.
    shared: isShared,
  });
}
