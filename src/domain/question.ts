import { err, ok, type Result } from 'neverthrow';
import { toHostName } from './host-name.ts';
import type { ToolName } from './tool-name.ts';

/** A question as it was asked of a tool, with its hints (spec 3.1). */
export interface Question {
  readonly tool: ToolName;
  readonly query: string;
  /** Prefer sources at most this many days old. */
  readonly recencyDays: number;
  /** About how many sources to weigh. */
  readonly maxResults: number;
  /** Host names to prefer; none means any. */
  readonly domains: readonly string[];
}

/** The configured hints, used where a question brings none. */
export type SearchDefaults = Pick<Question, 'recencyDays' | 'maxResults' | 'domains'>;

/** What is wrong with one argument of a call: where, what came, what is accepted. */
export interface ArgumentProblem {
  readonly argument: string;
  readonly received: unknown;
  readonly accepted: string;
}

/**
 * Reads a tool's arguments, leniently in form and strictly in meaning (ruling 5): `"7"` is 7, `null` is absent, one
 * domain as a string is a list of one, a URL stands for its host, unknown arguments are ignored; what is out of range is
 * refused. `answer_quick` takes the configured hints and ignores others.
 */
export function parseQuestion(
  tool: ToolName,
  args: Readonly<Record<string, unknown>>,
  defaults: SearchDefaults,
): Result<Question, readonly ArgumentProblem[]> {
  const problems: ArgumentProblem[] = [];
  const read = <T>(
    argument: string,
    fallback: T | undefined,
    accepted: string,
    parse: (value: unknown) => T | undefined,
  ) => {
    const received = args[argument] ?? undefined;
    const value = received === undefined ? fallback : parse(received);
    if (value === undefined) problems.push({ argument, received, accepted });
    return value;
  };

  const query = read('query', undefined, 'a string that holds a question', toQuery);
  const hints: { readonly [Hint in keyof SearchDefaults]: SearchDefaults[Hint] | undefined } =
    tool === 'answer_quick'
      ? defaults
      : {
          recencyDays: read('recency_days', defaults.recencyDays, 'a whole number from 0', (value) =>
            toWhole(value, 0),
          ),
          maxResults: read('max_results', defaults.maxResults, 'a whole number from 1', (value) => toWhole(value, 1)),
          domains: read('domains', defaults.domains, 'a list of host names such as "example.com"', toDomains),
        };

  const { recencyDays, maxResults, domains } = hints;
  if (query === undefined || recencyDays === undefined || maxResults === undefined || domains === undefined) {
    return err(problems);
  }
  return ok({ tool, query, recencyDays, maxResults, domains });
}

function toQuery(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function toWhole(value: unknown, min: number): number | undefined {
  const number = typeof value === 'string' && /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && (number as number) >= min ? Math.abs(number as number) : undefined;
}

function toDomains(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const hosts = list.map((entry) => (typeof entry === 'string' ? toHostName(entry) : undefined));
  return hosts.every((host) => host !== undefined) ? [...new Set(hosts)] : undefined;
}
