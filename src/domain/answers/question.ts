import { err, ok, type Result } from 'neverthrow';
import { MAX_EXAMINED } from '../values/clean-text.ts';
import { parseJson } from '../values/json.ts';
import { toHostName } from '../values/web-url.ts';

/** The answer tools, in the order of `tools/list`. */
export const TOOL_NAMES = ['answer', 'answer_detailed', 'answer_quick'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

/** Checks the sources of a text, with `citations.tool`. */
export const CHECK_TOOL = 'check_sources';

export function isToolName(value: unknown): value is ToolName {
  return TOOL_NAMES.some((name) => name === value);
}

/** A question to a tool, with its hints. */
export interface Question {
  readonly tool: ToolName;
  readonly query: string;
  /** Prefer sources at most this old, in days. */
  readonly recencyDays: number;
  /** Approximate number of sources to use. */
  readonly maxResults: number;
  /** Host names to prefer; an empty list means any. */
  readonly domains: readonly string[];
}

/** The configured hints, for questions without hints. */
export type SearchDefaults = Pick<Question, 'recencyDays' | 'maxResults' | 'domains'>;

export interface ArgumentProblem {
  readonly argument: string;
  readonly received: unknown;
  /** Completes "expected ...". */
  readonly accepted: string;
}

/** Maximum length of a question, in UTF-16 code units. A longer one is probably a mistake, and would be billed. */
const MAX_QUERY_LENGTH = 32_000;

/**
 * Reads the arguments of a tool: `"7"` is 7, `null` and an empty hint are absent, a domain or a text with several is a list, a URL is its host,
 * unknown arguments are ignored, and values out of range are rejected. `answer_quick` uses the configured hints and ignores all others.
 */
export function parseQuestion(
  tool: ToolName,
  args: Readonly<Record<string, unknown>>,
  defaults: SearchDefaults,
): Result<Question, readonly ArgumentProblem[]> {
  const given = tool === 'answer_quick' ? { query: args.query } : args;
  const problems: ArgumentProblem[] = [];
  const read = <T>(argument: string, accepted: string, parse: (value: unknown) => T | undefined, fallback?: T) => {
    const received = given[argument] ?? undefined;
    // A question may have any text.
    const hint = argument === 'query' ? received : hintIn(received);
    const value = hint === undefined ? fallback : parse(hint);
    if (value === undefined) problems.push({ argument, received, accepted });
    return value;
  };

  const isTooLong = typeof given.query === 'string' && given.query.trim().length > MAX_QUERY_LENGTH;
  const accepted = isTooLong ? 'a question of at most 32,000 characters' : 'a non-empty string';
  const query = read('query', accepted, toQuery);
  const recencyDays = read('recency_days', 'an integer, 0 or greater', integerFrom(0), defaults.recencyDays);
  const maxResults = read('max_results', 'an integer, 1 or greater', integerFrom(1), defaults.maxResults);
  const domains = read('domains', 'a list of host names such as "example.com"', toDomains, defaults.domains);
  if (query === undefined || recencyDays === undefined || maxResults === undefined || domains === undefined) {
    return err(problems);
  }
  return ok({ tool, query, recencyDays, maxResults, domains });
}

function toQuery(value: unknown): string | undefined {
  const query = typeof value === 'string' ? value.trim() : '';
  return query !== '' && query.length <= MAX_QUERY_LENGTH ? query : undefined;
}

function integerFrom(min: number) {
  return (value: unknown): number | undefined => {
    const number = typeof value === 'string' && /^\s*[+-]?\d+(?:\.0+)?\s*$/.test(value) ? Number(value) : value;
    return Number.isSafeInteger(number) && Number(number) >= min ? Math.abs(Number(number)) : undefined;
  };
}

/** Models send an empty text, or a word for nothing, for a hint that they leave out. */
const NOTHING: readonly unknown[] = ['', 'null', 'none', 'undefined'];

function isNothing(value: unknown): boolean {
  return value === null || (typeof value === 'string' && NOTHING.includes(value.trim().toLowerCase()));
}

/** A hint, which may be a JSON text such as `"7"` with its quotation marks; undefined if it is nothing. */
function hintIn(value: unknown): unknown {
  const json = typeof value === 'string' && /^\s*"/.test(value) ? parseJson(value) : undefined;
  const hint = typeof json === 'string' ? json : value;
  return isNothing(hint) ? undefined : hint;
}

function toDomains(value: unknown): readonly string[] | undefined {
  const entries = entriesOf(value).filter((entry) => !isNothing(entry));
  const hosts = entries.map((entry) => (typeof entry === 'string' ? toHostName(entry) : undefined));
  return hosts.every((host) => host !== undefined) ? [...new Set(hosts)] : undefined;
}

const MAX_NESTING = 3;

/** The entries of a list. Clients send it as a JSON text, or with commas in one text, which may be an entry of a list, too. */
function entriesOf(value: unknown, depth = 0): readonly unknown[] {
  if (depth > MAX_NESTING) return [value];
  if (Array.isArray(value)) return value.flatMap((entry) => entriesOf(entry, depth + 1));
  if (typeof value !== 'string') return [value];
  const text = value.trim();
  const json = /^["[]/.test(text) ? parseJson(text) : undefined;
  if (Array.isArray(json) || typeof json === 'string') return entriesOf(json, depth + 1);
  const items = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  // The query of a URL may have commas.
  const separator = items.includes('?') ? /[;、，\n]|,\s/ : /[,;、，\n]/;
  return items.split(separator).map((entry) => entry.trim().replace(/^(["'])(.*)\1$/s, '$2'));
}

/** The languages of this server's own messages. */
export type Language = 'ja' | 'en';

/** Patterns as texts, because literals are read with their file, and the tables of Unicode would delay the start. */
const LETTER = String.raw`\p{L}`;
const KANA = String.raw`[\p{Script=Hiragana}\p{Script=Katakana}]`;
const JAPANESE = String.raw`[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]`;
const LATIN = String.raw`\p{Script=Latin}`;
/** A quotation ends before the next one of its kind begins, so that marks that do not close are read once. */
const QUOTED = /「[^「」]*」|『[^『』]*』|“[^“”]*”|"[^"]*"/g;
/** A Japanese word takes about a third of the characters of an English one. */
const CHARACTERS_PER_CHARACTER = 3;

/**
 * The language for messages about a question: Japanese if the question, without its quotations, is mostly Japanese. Han without kana may be Chinese, and
 * gets English.
 */
export function languageOf(text: string): Language {
  const beginning = text.slice(0, MAX_EXAMINED);
  const own = beginning.replace(QUOTED, ' ');
  const asked = new RegExp(LETTER, 'u').test(own) ? own : beginning;
  // Most questions have no kana, so that nothing is counted.
  if (!new RegExp(KANA, 'u').test(asked)) return 'en';
  const japanese = asked.match(new RegExp(JAPANESE, 'gu'))?.length ?? 0;
  const latin = asked.match(new RegExp(LATIN, 'gu'))?.length ?? 0;
  return japanese * CHARACTERS_PER_CHARACTER >= latin ? 'ja' : 'en';
}
