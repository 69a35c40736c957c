import { withoutUndefined } from '../../domain/values/json.ts';
import type { SearchObserver, SearchUse, TokenUsage } from '../ports/llm-search.ts';

/** Passes everything on to an observer, and adds up what was used. */
export function countUse(
  observer: SearchObserver,
): Required<SearchObserver> & { total(): ReturnType<typeof totalUse> } {
  const parts: SearchUse[] = [];
  return {
    onProgress: (progress) => observer.onProgress(progress),
    onUsed: (use) => {
      parts.push(use);
      observer.onUsed?.(use);
    },
    onCreated: (response) => observer.onCreated?.(response),
    onOrdinary: (reason) => observer.onOrdinary?.(reason),
    total: () => totalUse(parts),
  };
}

/** What parts of a search used together. No usage if the API reported none. */
export function totalUse(parts: readonly SearchUse[]) {
  const [first, ...more] = parts;
  // Most searches are one request, and a sum of tokens takes time in each.
  if (first !== undefined && more.length === 0) return { searches: 0, rounds: 0, toolCalls: [], ...first };
  const usages = parts.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  const tokens = (of: (usage: TokenUsage) => number) => sum(usages.map(of));
  const isWritten = usages.some(({ cacheWriteTokens }) => cacheWriteTokens !== undefined);
  const usage: TokenUsage = withoutUndefined({
    inputTokens: tokens(({ inputTokens }) => inputTokens),
    cachedTokens: tokens(({ cachedTokens }) => cachedTokens),
    outputTokens: tokens(({ outputTokens }) => outputTokens),
    reasoningTokens: tokens(({ reasoningTokens }) => reasoningTokens),
    cacheWriteTokens: isWritten ? tokens(({ cacheWriteTokens = 0 }) => cacheWriteTokens) : undefined,
  });
  return {
    ...(usages.length > 0 && { usage }),
    searches: sum(parts.map(({ searches = 0 }) => searches)),
    rounds: sum(parts.map(({ rounds = 0 }) => rounds)),
    toolCalls: parts.flatMap(({ toolCalls = [] }) => toolCalls),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
