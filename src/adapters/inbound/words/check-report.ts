import { MAX_LINKS } from '../../../application/check/check-sources.ts';
import type { ReportedClaim, ReportedLink, ReportedQuote } from '../../../application/check/sources-report.ts';
import type { PageCheck } from '../../../domain/answers/citation.ts';
import type { Language } from '../../../domain/answers/question.ts';
import type { Place } from '../../../domain/check/text-places.ts';
import type { Passage } from '../../../domain/evidence/passages.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { whyOf } from './check-messages.ts';
import { type Checked, checkSummary } from './check-summary.ts';
import { notOnPage, notQuoted } from './page-findings.ts';
import { count } from './plain.ts';

interface Shown {
  readonly language: Language;
  /** Whether pages that could not be read, and figures without a source, are findings. */
  readonly isStrict?: boolean;
  /** The maximum length in UTF-16 code units. */
  readonly max?: number;
}

type Say = (ja: string, en: string) => string;

/** The number of findings: dead links, and claims with figures and quotations that are not on the page. */
export function findingsIn(checked: readonly Checked[], isStrict = false): number {
  return checked.reduce((sum, one) => sum + findingLines(one, { language: 'en', isStrict }).length, 0);
}

/** Whether texts have links of which no page could be read. */
export function isUnread(checked: readonly Checked[]): boolean {
  const links = checked.flatMap(({ report }) => report.links);
  return links.length > 0 && links.every(({ state }) => state === 'unreadable');
}

/** The report for people and models, of at most `max` characters: complete findings, pages that could not be read, redirects, and a summary. */
export function checkText(checked: readonly Checked[], shown: Shown): string {
  const { language, isStrict = false, max = Number.POSITIVE_INFINITY } = shown;
  const say: Say = (ja, en) => (language === 'ja' ? ja : en);
  const summary = checkSummary(checked, language);
  let left = max - summary.length - MAX_MORE;
  const section = (title: string, items: readonly string[]) => {
    if (items.length === 0 || left < title.length + MAX_MORE) return [];
    left -= title.length + MAX_MORE;
    const shown: string[] = [];
    for (const item of items) {
      if (item.length >= left) continue;
      shown.push(item);
      left -= item.length + 1;
    }
    const hidden = items.length - shown.length;
    return [title, ...shown, ...(hidden > 0 ? [say(`- ほか ${hidden} 件`, `- and ${hidden} more`)] : [])];
  };
  const sections = [
    ...section(
      say(TITLES.ja.findings, TITLES.en.findings),
      checked.flatMap((one) => findingLines(one, shown)),
    ),
    ...section(
      say(TITLES.ja.unread, TITLES.en.unread),
      isStrict ? [] : checked.flatMap((one) => unreadLines(one, language)),
    ),
    ...section(
      say(TITLES.ja.redirected, TITLES.en.redirected),
      checked.flatMap((one) => redirectLines(one, say)),
    ),
  ];
  return sections.length === 0 ? summary : `${sections.join('\n')}\n\n${summary}`;
}

/** For a person who may use `--private`. */
export const TRY_PRIVATE = 'Add --private to read pages on this machine, in your own network and on other ports.';

/** The titles of the parts of a report. No other line is equal to one. */
export const TITLES = {
  en: { findings: 'Findings:', unread: 'Not readable:', redirected: 'Redirected:' },
  ja: { findings: '確認結果:', unread: '読めないページ:', redirected: '転送:' },
} as const;

/** Characters that are reserved for a line such as `- and 12 more`. */
const MAX_MORE = 20;

/** The findings in the order of the text, each with its place. */
function findingLines(
  { file, report: { links, claims, quotes } }: Checked,
  { language, isStrict }: Shown,
): readonly string[] {
  const say: Say = (ja, en) => (language === 'ja' ? ja : en);
  const isFinding = ({ state }: PageCheck) => state === 'dead' || (isStrict === true && state === 'unreadable');
  const ofLinks = links.filter(isFinding).map((link) => ({ at: link.places[0], line: linkLine(link, file, language) }));
  const ofClaims = claims.flatMap((claim) => {
    const isUncited = isStrict === true && claim.state === 'nothing';
    if (claim.missing.length === 0 && !isUncited) return [];
    return [{ at: claim.place, line: isUncited ? uncitedLine(claim, file, say) : missingLine(claim, file, say) }];
  });
  const ofQuotes = quotes
    .filter(({ state }) => state === 'missing')
    .map((quote) => ({ at: quote.place, line: quoteLine(quote, file, say) }));
  const ordered = [...ofLinks, ...ofClaims, ...ofQuotes].sort(({ at: a }, { at: b }) =>
    a === undefined || b === undefined ? 0 : a.line - b.line || a.column - b.column,
  );
  return ordered.map(({ line }) => line);
}

function unreadLines(
  { file, report: { links, skipped, further = 0 } }: Checked,
  language: Language,
): readonly string[] {
  const more = skipped.filter(({ reason }) => reason === 'limit').length + further;
  const onlyFirst =
    language === 'ja'
      ? `- ほかのリンク ${more}: 先頭の ${MAX_LINKS} だけを確認します`
      : `- ${count(more, 'more link')}: only the first ${MAX_LINKS} are checked`;
  const unread = links.filter(({ state }) => state === 'unreadable');
  return [...unread.map((link) => linkLine(link, file, language)), ...(more > 0 ? [onlyFirst] : [])];
}

function redirectLines({ file, report: { links } }: Checked, say: Say): readonly string[] {
  return links
    .filter(({ state, finalUrl }) => state === 'ok' && finalUrl !== undefined)
    .map(
      (link) =>
        `- ${at(link.places, file)}${target(link)}${link.isMoved ? say('（恒久的な転送）', ' (moved permanently)') : ''}`,
    );
}

/** Such as `- report.md:12:5: https://a.com: not found (HTTP 404)` */
function linkLine(link: ReportedLink, file: string | undefined, language: Language): string {
  return `- ${at(link.places, file)}${target(link)}: ${whyOf(link, language)}`;
}

function target({ url, finalUrl }: ReportedLink): string {
  return finalUrl === undefined ? url : `${url} → ${finalUrl}`;
}

function missingLine(
  { claim, place, urls, missing, passages }: ReportedClaim,
  file: string | undefined,
  say: Say,
): string {
  const problem = notOnPage(missing, say('ja', 'en') as Language);
  return `- ${at([place], file)}${urls.join(', ')}: ${problem}\n  ${say('文', 'claim')}: ${cleanLine(claim)}${nearestLines(passages, say)}`;
}

function quoteLine({ quote, place, urls, passages }: ReportedQuote, file: string | undefined, say: Say): string {
  const problem = notQuoted(say('ja', 'en') as Language);
  return `- ${at([place], file)}${urls.join(', ')}: ${problem}\n  ${say('引用', 'quotation')}: ${cleanLine(quote)}${nearestLines(passages, say)}`;
}

function nearestLines(passages: Readonly<Record<string, Passage>>, say: Say): string {
  return Object.values(passages)
    .map(({ text, page }) => {
      const of = page === undefined ? '' : say(`（${page} ページ）`, ` (page ${page})`);
      return `\n  ${say('近い箇所', 'nearest passage')}${of}: ${text}`;
    })
    .join('');
}

function uncitedLine({ claim, place }: ReportedClaim, file: string | undefined, say: Say): string {
  return `- ${at([place], file)}${say('出典のない数字', 'figures without a source')}\n  ${say('文', 'claim')}: ${cleanLine(claim)}`;
}

/** The first place, and the lines of the others. */
function at(places: readonly Place[], file: string | undefined): string {
  const [first, ...others] = places;
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` (+${others.length})`;
  return `${file === undefined ? '' : `${file}:`}${first.line}:${first.column}${more}: `;
}
