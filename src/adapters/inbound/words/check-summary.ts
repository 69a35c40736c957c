import type { ReportedQuote, SourcesReport } from '../../../application/check/sources-report.ts';
import type { Language } from '../../../domain/answers/question.ts';
import type { SkipReason } from '../../../domain/check/written-url.ts';
import { count } from './plain.ts';

/** A text that was checked; `file` names it if it is a file. */
export interface Checked {
  readonly file?: string | undefined;
  readonly report: SourcesReport;
}

/** Such as `12 links: 10 read, 1 not found, 1 not readable; 7 claims with figures: 4 compared, 2 not (page not readable), 1 cites nothing` */
export function checkSummary(checked: readonly Checked[], language: Language): string {
  const all = checked.flatMap(({ report }) => report.links);
  const claims = checked.flatMap(({ report }) => report.claims);
  const quotes = checked.flatMap(({ report }) => report.quotes);
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
      ofQuotes(quotes, language),
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
    ofQuotes(quotes, language),
    reasons.length > 0 && `${count(skipped.length, 'URL')} skipped: ${reasons.join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ');
}

function ofQuotes(quotes: readonly ReportedQuote[], language: Language): string | false {
  const of = (wanted: string) => quotes.filter(({ state }) => state === wanted).length;
  const [found, missing, unread] = [of('found'), of('missing'), of('unread')];
  if (quotes.length === 0) return false;
  if (language === 'ja') {
    const parts = [
      `ページにあるもの ${found}`,
      missing && `ないもの ${missing}`,
      unread && `ページが読めず未照合 ${unread}`,
    ];
    return `引用 ${quotes.length}: ${parts.filter(Boolean).join('、')}`;
  }
  const parts = [
    `${found} on the page`,
    missing && `${missing} not on the page`,
    unread && `${unread} not compared (page not readable)`,
  ];
  return `${count(quotes.length, 'quotation')}: ${parts.filter(Boolean).join(', ')}`;
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
