import type { CheckError } from '../../../application/check/check-sources.ts';
import { READING_MS } from '../../../application/ports/readers.ts';
import type { Answer } from '../../../application/tools/tool-call.ts';
import { deadReason, type PageCheck } from '../../../domain/answers/citation.ts';
import type { Language } from '../../../domain/answers/question.ts';
import { noPassage, notOnPage } from './page-findings.ts';
import { count } from './plain.ts';

export const CHECK = {
  unreadable: (source: string, page: PageCheck) => `${source} cannot be read: ${whyOf(page, 'en')}.`,
  notText: (source: string) => `${source} cannot be read: not text in UTF-8, UTF-16, Shift_JIS or EUC-JP.`,
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

/** The reason why a page could not be read, for people; undefined if it was read. */
export function whyOf({ state, status, reason = '' }: PageCheck, language: Language): string | undefined {
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
  empty: ['文章がない', 'it has no text'],
  empty_pdf: ['文字のない PDF', 'a PDF without text'],
  home_page: ['トップページへの転送', 'it leads to the home page'],
  sign_in: ['サインインのページ', 'it leads to a page that asks for a password'],
  robot_check: ['人間かどうかを確認するページ', 'it asks whether a person visits it'],
  port: ['許可されていないポート', 'only the ports 80 and 443 are allowed'],
  certificate_expired: ['証明書の期限切れ', 'the certificate has expired'],
  certificate: ['信頼できない証明書', 'the certificate is not trusted'],
  no_pdf: ['PDF（poppler-utils をインストールすると読めます）', 'a PDF: install poppler-utils to read it'],
  bad_pdf: ['読めない PDF', 'a PDF that cannot be read'],
  large_pdf: ['10 MB を超える PDF', 'a PDF of more than 10 MB'],
  redirects: ['転送が多すぎる', 'too many redirects'],
  timeout: ['時間切れ', 'no response in time'],
  too_long: ['URL が 2,048 文字を超える', 'a URL of more than 2,048 characters'],
  user_name: ['ユーザー名かパスワードを含む URL', 'a URL with a user name or a password'],
  too_slow: ['読み取りに 5 秒以上かかる', 'reading it takes more than 5 s'],
  too_large: ['読み取りに必要なメモリが多すぎる', 'reading it takes too much memory'],
  page_too_long: ['ページが長すぎる', 'the page is too long'],
  language: ['日本語でも英語でもない', 'neither in English nor in Japanese'],
  network: ['接続の失敗', 'the connection failed'],
};

function reasonFor(code: string): readonly [ja: string, en: string] {
  const status = code.replace(/^http_/, 'HTTP ');
  return REASONS[code] ?? [status, status];
}
