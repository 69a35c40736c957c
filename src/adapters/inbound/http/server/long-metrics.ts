import { Counter, Gauge, type Registry } from 'prom-client';
import type { LongSearches } from '../../../../application/answers/long-searches.ts';
import { lookUp } from './metrics.ts';

/** Registers the metrics of answers that take minutes (ruling K26). `searches` is undefined before the first question. */
export function registerLongMetrics(
  registry: Registry,
  searches: () => Pick<LongSearches, 'counts'> | undefined,
): void {
  for (const { metric, label, help, Kind } of METRICS) {
    const config = { name: `openai_responses_mcp_${metric}`, help, labelNames: [label], registers: [registry] };
    lookUp(Kind, config, () =>
      Object.entries(searches()?.counts[metric] ?? {}).map(([value, count]) => [{ [label]: value }, count]),
    );
  }
}

const METRICS = [
  {
    metric: 'long_answers',
    label: 'state',
    Kind: Gauge,
    help: 'Searches that take minutes: working, or with an answer that is kept for its handle.',
  },
  {
    metric: 'long_answers_total',
    label: 'outcome',
    Kind: Counter,
    help: 'Searches that take minutes and have ended, by outcome; expired: at long_answers.max_ms.',
  },
  {
    metric: 'long_answers_detached_total',
    label: 'cause',
    Kind: Counter,
    help: 'How often the last call left a search that continued, by cause.',
  },
  {
    metric: 'long_answers_returned_total',
    label: 'how',
    Kind: Counter,
    help: 'Answers that calls got from a search that another call began, or by a handle.',
  },
] as const;
