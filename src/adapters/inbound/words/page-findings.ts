import type { Language } from '../../../domain/answers/question.ts';

/** The words for figures that a page does not have, in the terminal, over MCP and in the browser. */
export function notOnPage(figures: readonly string[], language: Language): string {
  if (language === 'ja') return `${figures.map((figure) => `「${figure}」`).join('')}はページにありません`;
  return `${figures.map((figure) => `"${figure}"`).join(', ')} not on the page`;
}

/** The words for a quotation that its page does not have. */
export function notQuoted(language: Language): string {
  return language === 'ja'
    ? '引用がこの言葉どおりにはページにありません'
    : 'the quotation is not on the page in these words';
}

/** The words for a page without a passage that is similar to the answer. */
export function noPassage(language: Language): string {
  return language === 'ja' ? 'ページに似た箇所がありません' : 'no similar passage on the page';
}
