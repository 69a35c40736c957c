import type { Answer } from '../../../application/answers/answer.ts';
import type { Language } from '../../../domain/answers/language.ts';

/** What was found about the cited pages, one line each, in the order of the citations; `isVerbose`: also quotes, and pages that could not be read (ruling E13). */
export function findingsOf({ result, report }: Answer, language: Language, isVerbose: boolean): readonly string[] {
  const words = WORDS[language];
  return result.citations.flatMap(({ url, evidence = {} }) => {
    const { state, reason = '' } = report.checks?.find((check) => check.url === url) ?? {};
    const { missing = [], unrelated, quote } = evidence;
    return [
      ...(isVerbose && state === 'unreadable' ? [words.unreadable(url, reason)] : []),
      ...(missing.length > 0 ? [words.missing(url, missing)] : []),
      ...(unrelated === true ? [words.unrelated(url)] : []),
      ...(isVerbose && quote !== undefined ? [words.quote(url, quote)] : []),
    ];
  });
}

const WORDS = {
  en: {
    missing: (url: string, figures: readonly string[]) =>
      `${url}: ${figures.map((figure) => `"${figure}"`).join(', ')} not on the page`,
    unrelated: (url: string) => `${url}: no similar passage on the page`,
    unreadable: (url: string, reason: string) => `${url}: could not be read (${reason})`,
    quote: (url: string, quote: string) => `${url}: "${quote}"`,
  },
  ja: {
    missing: (url: string, figures: readonly string[]) =>
      `${url}: ${figures.map((figure) => `「${figure}」`).join('')}はページにありません`,
    unrelated: (url: string) => `${url}: ページに似た箇所がありません`,
    unreadable: (url: string, reason: string) => `${url}: 読めませんでした（${reason}）`,
    quote: (url: string, quote: string) => `${url}: 「${quote}」`,
  },
};
