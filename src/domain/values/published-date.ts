import { isObject, parseJson } from './json.ts';

/**
 * Texts in which a page may say when it was published, best first: the content of `<script type="application/ld+json">`, `article:published_time`,
 * `citation_publication_date` and similar names, and `<time datetime pubdate>` or `itemprop="datePublished"`.
 */
export type DateCandidates = Readonly<Record<'jsonLd' | 'article' | 'citation' | 'time', readonly string[]>>;

/** The day of publication; undefined if the page states none, or an impossible one. */
export function publishedOn(candidates: DateCandidates, today: string): string | undefined {
  const { jsonLd, article, citation, time } = candidates;
  const texts = [...jsonLd.flatMap((text) => datesIn(parseJson(text), 0)), ...article, ...citation, ...time];
  return texts.map((text) => toDay(text, today)).find((day) => day !== undefined);
}

const MAX_DEPTH = 8;

/** The values of `datePublished`, outermost first. */
function datesIn(value: unknown, depth: number): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((entry) => datesIn(entry, depth + 1));
  if (!isObject(value)) return [];
  const own = typeof value.datePublished === 'string' ? [value.datePublished] : [];
  return [...own, ...Object.values(value).flatMap((member) => datesIn(member, depth + 1))];
}

const FIRST_DAY = '1990-01-01';

/** Matches `2024-03-05`, `2024/3/5` or `20240305`, not followed by a digit. */
const DATE = /^\s*(\d{4})(?:[-/](\d{1,2})[-/](\d{1,2})|(\d{2})(\d{2}))(?!\d)/;

/** Reads a day as it is written, whatever its offset. Days in the future or before 1990 are ignored. */
function toDay(text: string, today: string): string | undefined {
  const [, year, ...parts] = DATE.exec(text) ?? [];
  const [month = '', day = ''] = parts.filter((part) => part !== undefined).map((part) => part.padStart(2, '0'));
  const iso = `${year}-${month}-${day}`;
  if (year === undefined || iso < FIRST_DAY || iso > today) return undefined;
  const ms = Date.parse(`${iso}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(iso) ? iso : undefined;
}
