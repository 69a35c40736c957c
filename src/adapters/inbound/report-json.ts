import type { Answer } from '../../application/answer-query.ts';

/** What an answer took, as callers see it. */
export function toReportJson(report: Answer['report']): Readonly<Record<string, unknown>> {
  const { model, responseId, usage, queries, searches, attempts, seconds } = report;
  return {
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { response_id: responseId }),
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
    searches: { count: searches, queries },
    attempts,
    seconds: Math.round(seconds * 1000) / 1000,
  };
}
