import { type Cost, costOf, type ModelPrice } from '../../domain/answers/prices.ts';
import type { SearchObserver, SearchUse } from '../ports/llm-search.ts';

/**
 * An observer that adds its cost to the use of each response, and the cost of all responses for which this call pays. The cost is not known without a
 * price, or if a response has no usage.
 */
export function payFor(observer: SearchObserver, price: ModelPrice | undefined) {
  if (price === undefined) return { observer, cost: (): Cost | undefined => undefined };
  const total = { microUsd: 0, isKnown: true };
  const onUsed = (use: SearchUse) => {
    // The use of a round or of an own tool is no response.
    if (use.searches === undefined) return observer.onUsed?.(use);
    const { usage, searches } = use;
    const microUsd = usage && costOf({ usage, searches }, price);
    if (microUsd === undefined) total.isKnown = false;
    else total.microUsd += microUsd;
    observer.onUsed?.({ ...use, ...(microUsd !== undefined && { microUsd }) });
  };
  const paying: SearchObserver = {
    onProgress: (progress) => observer.onProgress(progress),
    onStarted: (id) => observer.onStarted?.(id),
    onUsed,
  };
  const cost = (): Cost | undefined =>
    total.isKnown ? { microUsd: total.microUsd, pricesOf: price.pricesOf } : undefined;
  return { observer: paying, cost };
}
