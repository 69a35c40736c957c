import {
  MAX_LINKS,
  type ReportedClaim,
  type ReportedLink,
  type SourcesReport,
} from '../../../application/check/check-sources.ts';
import type { PageCheck } from '../../../domain/answers/known-page.ts';
import type { Language } from '../../../domain/answers/language.ts';
import type { Place } from '../../../domain/check/text-places.ts';
import type { SkipReason } from '../../../domain/check/written-url.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { whyOf } from './check-messages.ts';
import { notOnPage } from './page-findings.ts';
import { count } from './plain.ts';

/** A text that was checked; `file` names it if it is a file. */
export interface Checked {
  readonly file?: string | undefined;
  readonly report: SourcesReport;
}

interface Shown {
  readonly language: Language;
  /** Whether pages that could not be read, and figures without a source, are findings. */
  readonly isStrict?: boolean;
  /** The maximum length in UTF-16 code units. */
  readonly max?: number;
}

type Say = (ja: string, en: string) => string;

/** The number of findings: dead links, and claims with figures that are not on the page. */
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
      say('確認結果:', 'Findings:'),
      checked.flatMap((one) => findingLines(one, shown)),
    ),
    ...section(
      say('読めないページ:', 'Not readable:'),
      isStrict ? [] : checked.flatMap((one) => unreadLines(one, language)),
    ),
    ...section(
      say('転送:', 'Redirected:'),
      checked.flatMap((one) => redirectLines(one, say)),
    ),
  ];
  return sections.length === 0 ? summary : `${sections.join('\n')}\n\n${summary}`;
}

/** Characters that are reserved for a line such as `- and 12 more`. */
const MAX_MORE = 20;

/** The findings in the order of the text, each with its place. */
function findingLines({ file, report: { links, claims } }: Checked, { language, isStrict }: Shown): readonly string[] {
  const say: Say = (ja, en) => (language === 'ja' ? ja : en);
  const isFinding = ({ state }: PageCheck) => state === 'dead' || (isStrict === true && state === 'unreadable');
  const ofLinks = links.filter(isFinding).map((link) => ({ at: link.places[0], line: linkLine(link, file, language) }));
  const ofClaims = claims.flatMap((claim) => {
    const isUncited = isStrict === true && claim.state === 'nothing';
    if (claim.missing.length === 0 && !isUncited) return [];
    return [{ at: claim.place, line: isUncited ? uncitedLine(claim, file, say) : missingLine(claim, file, say) }];
  });
  const ordered = [...ofLinks, ...ofClaims].sort(({ at: a }, { at: b }) =>
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
  const nearest = Object.values(passages).map((passage) => `\n  ${say('近い箇所', 'nearest passage')}: ${passage}`);
  const problem = notOnPage(missing, say('ja', 'en') as Language);
  return `- ${at([place], file)}${urls.join(', ')}: ${problem}\n  ${say('文', 'claim')}: ${cleanLine(claim)}${nearest.join('')}`;
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

/** Such as `12 links: 10 read, 1 not found, 1 not readable; 7 claims with figures: 4 compared, 2 not (page not readable), 1 cites nothing` */
function checkSummary(checked: readonly Checked[], language: Language): string {
  const all = checked.flatMap(({ report }) => report.links);
  const claims = checked.flatMap(({ report }) => report.claims);
  const skipped = checked.flatMap(({ report }) => report.skipped);
  const of = (state: string) => all.filter((link) => link.state === state).length;
  const in_ = (state: string) => claims.filter((claim) => claim.state === state).length;
  const [read, dead, unread] = [of('ok'), of('dead'), of('unreadable')];
  const missing = claims.filter((claim) => claim.missing.length > 0).length;
  const [compared, unreadClaims, nothing, noPage, unclear] = (
    ['compared', 'unread', 'nothing', 'no_page', 'unclear'] as const
  ).map(in_);
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].map((reason) => {
    const [ja, en] = SKIPPED[reason];
    const some = skipped.filter((one) => one.reason === reason).length;
    return language === 'ja' ? `${ja} ${some}` : `${some} ${en}`;
  });
  if (language === 'ja') {
    const parts = [`読めたもの ${read}`, dead && `見つからないもの ${dead}`, unread && `読めないもの ${unread}`];
    const ofClaims = [
      `照合 ${compared}`,
      unreadClaims && `ページが読めず未照合 ${unreadClaims}`,
      noPage && `出典にリンクなし ${noPage}`,
      unclear && `どの部分の出典か不明 ${unclear}`,
      nothing && `出典なし ${nothing}`,
    ];
    return [
      all.length === 0 ? 'リンクがありません' : `リンク ${all.length}: ${parts.filter(Boolean).join('、')}`,
      claims.length > 0 && `数字のある文 ${claims.length}: ${ofClaims.filter(Boolean).join('、')}`,
      missing > 0 && `${missing} 文に、ページにない数字があります`,
      reasons.length > 0 && `確認しない URL ${skipped.length}: ${reasons.join('、')}`,
    ]
      .filter(Boolean)
      .join('。');
  }
  const parts = [`${read} read`, dead && `${dead} not found`, unread && `${unread} not readable`];
  const ofClaims = [
    `${compared} compared`,
    unreadClaims && `${unreadClaims} not (page not readable)`,
    noPage && `${noPage} not (source without a link)`,
    unclear && `${unclear} not (unclear which part a source is for)`,
    nothing && `${nothing} ${nothing === 1 ? 'cites' : 'cite'} nothing`,
  ];
  return [
    all.length === 0 ? 'No links' : `${count(all.length, 'link')}: ${parts.filter(Boolean).join(', ')}`,
    claims.length > 0 && `${count(claims.length, 'claim')} with figures: ${ofClaims.filter(Boolean).join(', ')}`,
    missing > 0 && `${missing} ${missing === 1 ? 'has' : 'have'} figures that are not on the page`,
    reasons.length > 0 && `${count(skipped.length, 'URL')} skipped: ${reasons.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

const SKIPPED: Readonly<Record<SkipReason, readonly [ja: string, en: string]>> = {
  code: ['コード', 'in code'],
  comment: ['コメント', 'in comments'],
  navigation: ['ナビゲーション', 'in navigation'],
  image: ['画像', 'of images'],
  placeholder: ['プレースホルダー', 'with placeholders'],
  relative: ['相対リンク', 'relative'],
  scheme: ['ほかのスキーム', 'of other schemes'],
  invalid: ['不正な URL', 'not valid'],
  ignored: ['除外', 'ignored'],
  limit: ['上限を超えたもの', 'after the first 100'],
};

const NOWHERE: Place = { line: 1, column: 1 };

/** The report for programs. A claim has an entry for each page that it cites. */
export function toCheckJson(checked: readonly Checked[], language: Language, isStrict = false) {
  const further = checked.reduce((sum, { report }) => sum + (report.further ?? 0), 0);
  return {
    summary: checkSummary(checked, language),
    findings: findingsIn(checked, isStrict),
    links: checked.flatMap(({ file, report }) =>
      report.links.map(({ places, finalUrl, isMoved, ...link }) => ({
        ...link,
        reason: whyOf(link, language),
        ...(finalUrl !== undefined && { final_url: finalUrl, ...(isMoved && { moved: true }) }),
        file,
        ...(places[0] ?? NOWHERE),
        ...(places.length > 1 && { places }),
      })),
    ),
    claims: checked.flatMap(({ file, report }) =>
      report.claims.flatMap(({ claim, place, state, urls, compared, missing, passages }) => {
        const common = { claim, missing, state, file, ...place };
        const named = compared.length > 0 ? compared : urls;
        const pages: readonly (string | undefined)[] = named.length > 0 ? named : [undefined];
        return pages.map((url) => ({ ...common, url, passage: passages[url ?? ''] }));
      }),
    ),
    skipped: checked.flatMap(({ file, report }) =>
      report.skipped.map(({ place, ...skipped }) => ({ ...skipped, file, ...place })),
    ),
    ...(further > 0 && { further_links: further }),
  };
}
