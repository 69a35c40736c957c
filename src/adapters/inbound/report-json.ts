import type { Answer } from '../../application/answer-query.ts';
import { cleanLine } from '../../domain/clean-text.ts';

/** What an answer took, as callers see it. */
export function toReportJson(report: Answer['report']): Readonly<Record<string, unknown>> {
  const { model, responseId, usage, queries, searches, attempts, seconds } = report;
  return {
    ...(model === undefined ? {} : { model: cleanLine(model) }),
    ...(responseId === undefined ? {} : { response_id: cleanLine(responseId) }),
    ...(usage === undefined
      ? {}
      : {
          usage: {
            input_tokens: usage.inputTokens,
            cached_tokens: usage.cachedTokens,
            output_tokens: usage.outputTokens,
            reasoning_tokens: usage.reasoningTokens,
          },
        }),
    searches: { count: searches, queries: queries.map(cleanLine) },
    attempts,
    seconds: Math.round(seconds * 1000) / 1000,
  };
}
