import { type CheckError, MAX_LINKS, type SourcesReport } from '../../../application/check/check-sources.ts';
import { READING_MS } from '../../../application/ports/readers.ts';
import type { Answer } from '../../../application/tools/tool-call.ts';
import { deadReason, type PageCheck } from '../../../domain/answers/known-page.ts';
import type { Language } from '../../../domain/answers/language.ts';
import { cleanLine } from '../../../domain/values/clean-text.ts';
import { noPassage, notOnPage } from './page-findings.ts';
import { count } from './plain.ts';

/** The number of findings: dead links, and claims with figures that are not on the page. */
export function findingsIn({ links, claims }: SourcesReport): number {
  return links.filter(({ state }) => state === 'dead').length + withMissing(claims).length;
}

/** The report for people and models, of at most `max` UTF-16 code units: complete findings, links that could not be read, and a summary. */
export function checkText(report: SourcesReport, language: Language, max = Number.POSITIVE_INFINITY): string {
  const say = (ja: string, en: string) => (language === 'ja' ? ja : en);
  const { summary, links, claims } = toCheckJson(report, language);
  const first = links.slice(0, MAX_LINKS);
  const linesOf = (wanted: string) =>
    first.filter(({ state }) => state === wanted).map(({ url, reason }) => `- ${url}: ${reason}`);
  const missing = withMissing(claims).map(({ claim, url, missing, passage }) => {
    const nearest = passage === undefined ? '' : `\n  ${say('近い箇所', 'nearest passage')}: ${passage}`;
    return `- ${url}: ${notOnPage(missing, language)}\n  ${say('文', 'claim')}: ${cleanLine(claim)}${nearest}`;
  });
  const more = links.length - first.length + (report.further ?? 0);
  const onlyFirst = say(
    `- ほかのリンク ${more}: 先頭の ${MAX_LINKS} だけを確認します`,
    `- ${count(more, 'more link')}: only the first ${MAX_LINKS} are checked`,
  );
  const unreadable = [...linesOf('unreadable'), ...(more > 0 ? [onlyFirst] : [])];
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
    ...section(say('確認結果:', 'Findings:'), [...linesOf('dead'), ...missing]),
    ...section(say('読めないページ:', 'Not readable:'), unreadable),
  ];
  return sections.length === 0 ? summary : `${sections.join('\n')}\n\n${summary}`;
}

/** Characters that are reserved for a line such as `- and 12 more`. */
const MAX_MORE = 20;

/** Such as `12 links: 10 read, 1 not found, 1 not readable; 2 of 7 claims have figures that are not on the page` */
function checkSummary({ links, claims }: SourcesReport, language: Language): string {
  const of = (state: string) => links.filter((link) => link.state === state).length;
  const [read, dead, unread, missing] = [of('ok'), of('dead'), of('unreadable'), withMissing(claims).length];
  if (language === 'ja') {
    const parts = [`読めたもの ${read}`, dead && `見つからないもの ${dead}`, unread && `読めないもの ${unread}`];
    const pages =
      links.length === 0 ? 'リンクがありません' : `リンク ${links.length}: ${parts.filter(Boolean).join('、')}`;
    const compared =
      claims.length === 0 ? '' : `。数字のある ${claims.length} 文のうち ${missing} 文に、ページにない数字があります`;
    return pages + compared;
  }
  const parts = [`${read} read`, dead && `${dead} not found`, unread && `${unread} not readable`];
  const pages = links.length === 0 ? 'No links' : `${count(links.length, 'link')}: ${parts.filter(Boolean).join(', ')}`;
  const verb = missing === 1 || claims.length === 1 ? 'has' : 'have';
  const compared = `; ${missing} of ${count(claims.length, 'claim')} ${verb} figures that are not on the page`;
  return pages + (claims.length > 0 ? compared : '');
}

/** The report for programs. */
export function toCheckJson(report: SourcesReport, language: Language) {
  const links = report.links.map((link) => ({ ...link, reason: whyOf(link, language) }));
  const { claims, further } = report;
  const counts = { summary: checkSummary(report, language), findings: findingsIn(report) };
  return { ...counts, links, ...(further && { further_links: further }), claims };
}

export const CHECK = {
  unreadable: (source: string, page: PageCheck) => `${source} cannot be read: ${whyOf(page, 'en')}.`,
  empty: 'There is nothing to check: the text is empty.',
  /** Completes "the text". */
  problem: (error: Uncheckable) =>
    error.kind === 'text_too_long'
      ? `must have at most ${error.max} characters`
      : `${unread(error.reason)}, and was not checked: check a part of it`,
  refused: (error: Uncheckable) =>
    error.kind === 'text_too_long'
      ? `The text has ${error.characters} characters; at most ${error.max} can be checked. Check a part of it.`
      : `The text ${unread(error.reason)}, and was not checked. Check a part of it.`,
  progress: (done: number, all: number) => `${done} of ${count(all, 'link')}`,
};

type Uncheckable = Exclude<CheckError, { readonly kind: 'cancelled' }>;

function unread(reason: 'too_slow' | 'too_large'): string {
  return reason === 'too_slow' ? `takes more than ${READING_MS / 1000} s to read` : 'takes too much memory to read';
}

function withMissing(claims: SourcesReport['claims']) {
  return claims.filter(({ missing }) => missing.length > 0);
}

/** The reason why a page could not be read, for people; undefined if it was read. */
function whyOf({ state, status, reason = '' }: PageCheck, language: Language): string | undefined {
  if (state === 'ok') return undefined;
  const [ja, en] = state === 'dead' ? notFound(status) : reasonFor(reason);
  return language === 'ja' ? ja : en;
}

function notFound(status: number | undefined): readonly [ja: string, en: string] {
  return [`見つかりません（${deadReason(status, 'ja')}）`, `not found (${deadReason(status, 'en')})`];
}

/**
 * The findings about the cited pages, with the number of each source, and a summary as the last line; empty if no page was checked.
 * `isVerbose` adds quotes, and pages that could not be read.
 */
export function findingsOf({ result, report }: Answer, language: Language, isVerbose: boolean): readonly string[] {
  const { checks } = report;
  if (checks === undefined) return [];
  const say = (ja: string, en: string) => (language === 'ja' ? ja : en);
  const quoted = (text: string) => say(`「${text}」`, `"${text}"`);
  const lines = result.citations.flatMap(({ url, evidence = {} }, at) => {
    const { state, reason = '' } = checks.find((check) => check.url === url) ?? {};
    const { missing = [], unrelated, quote } = evidence;
    const [ja, en] = reasonFor(reason);
    const findings = [
      state === 'dead' && say('見つかりません', 'not found'),
      isVerbose && state === 'unreadable' && say(`読めませんでした（${ja}）`, `could not be read (${en})`),
      missing.length > 0 && notOnPage(missing, language),
      unrelated === true && noPassage(language),
      isVerbose && quote !== undefined && quoted(quote),
    ];
    return findings.filter((finding) => finding !== false).map((finding) => `- [${at + 1}] ${url}: ${finding}`);
  });
  const heading = lines.length > 0 ? [say('確認結果:', 'Findings:')] : [];
  return [...heading, ...lines, summaryOf(checks, say)];
}

function summaryOf(checks: readonly PageCheck[], say: (ja: string, en: string) => string): string {
  const of = (wanted: string) => checks.filter(({ state }) => state === wanted).length;
  const [dead, unreadable] = [of('dead'), of('unreadable')];
  const parts = [
    dead > 0 && say(`見つからないページ ${dead}`, `${dead} not found`),
    unreadable > 0 && say(`読めないページ ${unreadable}`, `${unreadable} not readable`),
  ].filter((part) => part !== false);
  const checked = say(`確認したページ: ${checks.length}`, `Checked ${count(checks.length, 'page')}`);
  return parts.length === 0
    ? `${checked}${say('', '.')}`
    : `${checked}${say('（', ': ')}${parts.join(say('、', ', '))}${say('）', '')}`;
}

const REASONS: Readonly<Record<string, readonly [ja: string, en: string]>> = {
  forbidden: ['公開されていないアドレス', 'not a public address'],
  not_text: ['文章ではない', 'not text'],
  no_text: ['文章がほとんどない', 'almost no text without JavaScript'],
  redirects: ['転送が多すぎる', 'too many redirects'],
  timeout: ['時間切れ', 'no response in time'],
  too_long: ['URL が 2,048 文字を超える', 'a URL of more than 2,048 characters'],
  user_name: ['ユーザー名かパスワードを含む URL', 'a URL with a user name or a password'],
  too_many: ['リンクが 100 を超える', 'after the first 100 links'],
  too_slow: ['読み取りに 5 秒以上かかる', 'reading it takes more than 5 s'],
  too_large: ['読み取りに必要なメモリが多すぎる', 'reading it takes too much memory'],
  not_comparable: ['長すぎるか、日本語でも英語でもない', 'too long, or neither Japanese nor English'],
  network: ['接続の失敗', 'the connection failed'],
};

function reasonFor(code: string): readonly [ja: string, en: string] {
  const status = code.replace(/^http_/, 'HTTP ');
  return REASONS[code] ?? [status, status];
}
