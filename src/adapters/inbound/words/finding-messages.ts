import type { Answer } from '../../../application/tools/answer.ts';
import type { PageCheck } from '../../../domain/answers/known-page.ts';
import type { Language } from '../../../domain/answers/language.ts';
import { count } from './plain.ts';

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
    const figures = missing.map(quoted).join(say('', ', '));
    const [ja, en] = reasonFor(reason);
    const findings = [
      state === 'dead' && say('見つかりません', 'not found'),
      isVerbose && state === 'unreadable' && say(`読めませんでした（${ja}）`, `could not be read (${en})`),
      figures !== '' && say(`${figures}はページにありません`, `${figures} not on the page`),
      unrelated === true && say('ページに似た箇所がありません', 'no similar passage on the page'),
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
  too_many: ['リンクが 100 を超える', 'after the first 100 links'],
  too_slow: ['読み取りに 5 秒以上かかる', 'reading it takes more than 5 s'],
  too_large: ['読み取りに必要なメモリが多すぎる', 'reading it takes too much memory'],
  not_comparable: ['長すぎるか、日本語でも英語でもない', 'too long, or neither Japanese nor English'],
  network: ['接続の失敗', 'the connection failed'],
};

export function reasonFor(code: string): readonly [ja: string, en: string] {
  const status = code.replace(/^http_/, 'HTTP ');
  return REASONS[code] ?? [status, status];
}
