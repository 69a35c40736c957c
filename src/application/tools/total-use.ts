import type { SearchObserver, SearchProgress, SearchUse, TokenUsage } from '../ports/llm-search.ts';

/** Passes everything on to an observer, and adds up the use. */
export function countUse(observer: SearchObserver) {
  const parts: SearchUse[] = [];
  return {
    onProgress: (progress: SearchProgress) => observer.onProgress(progress),
    onUsed: (use: SearchUse) => {
      parts.push(use);
      observer.onUsed?.(use);
    },
    onStarted: (id: string | undefined) => observer.onStarted?.(id),
    total: () => totalUse(parts),
  };
}

/** The tokens of a use: those of the input, cached ones included, and of the output. */
export function tokensOf({ inputTokens, outputTokens }: TokenUsage): number {
  return inputTokens + outputTokens;
}

/** The sum of the use of a search's parts. Without `usage` if the API reported none. */
export function totalUse(parts: readonly SearchUse[]) {
  let total: TokenUsage | undefined;
  for (const { usage } of parts) total = total && usage ? added(total, usage) : (usage ?? total);
  return {
    ...(total && { usage: total }),
    ...costIn(parts),
    searches: parts.reduce((sum, { searches = 0 }) => sum + searches, 0),
    rounds: parts.reduce((sum, { rounds = 0 }) => sum + rounds, 0),
    toolCalls: parts.flatMap(({ toolCalls = [] }) => toolCalls),
  };
}

/** The known costs of the parts. */
function costIn(parts: readonly SearchUse[]) {
  const known = parts.flatMap(({ microUsd }) => microUsd ?? []);
  return known.length === 0 ? {} : { microUsd: known.reduce((sum, one) => sum + one) };
}

function added(a: TokenUsage, b: TokenUsage): TokenUsage {
  const written = [a.cacheWriteTokens, b.cacheWriteTokens].filter((tokens) => tokens !== undefined);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(written.length > 0 && { cacheWriteTokens: written.reduce((sum, tokens) => sum + tokens) }),
  };
}
