import type { Answer } from '../../../application/answers/answer.ts';
import type { Language } from '../../../domain/answers/language.ts';

/** What was found about the cited pages, one line each, in the order of the citations; `isVerbose`: also quotes, and pages that could not be read (ruling E13). */
export function findingsOf({ result, report }: Answer, language: Language, isVerbose: boolean): readonly string[] {
  const say = (ja: string, en: string) => (language === 'ja' ? ja : en);
  const quoted = (text: string) => say(`「${text}」`, `"${text}"`);
  return result.citations.flatMap(({ url, evidence = {} }) => {
    const { state, reason = '' } = report.checks?.find((check) => check.url === url) ?? {};
    const { missing = [], unrelated, quote } = evidence;
    const figures = missing.map(quoted).join(say('', ', '));
    const findings = [
      isVerbose && state === 'unreadable' && say(`読めませんでした（${reason}）`, `could not be read (${reason})`),
      figures !== '' && say(`${figures}はページにありません`, `${figures} not on the page`),
      unrelated === true && say('ページに似た箇所がありません', 'no similar passage on the page'),
      isVerbose && quote !== undefined && quoted(quote),
    ];
    return findings.filter((finding) => finding !== false).map((finding) => `${url}: ${finding}`);
  });
}
