import type { Language } from './language.ts';

/** The line in the instructions for clients that is about these texts (ruling K23). */
export const UNFINISHED_INSTRUCTIONS = 'If a result says that it is not finished, call the tool again as it says.';

/** The text for a caller whose time is up while the search continues (ruling K19): what happened, what to do, and the progress so far. */
export function unfinishedAnswer(language: Language, handle: string, seconds: number, searches: number): string {
  return WORDS[language](handle, Math.round(seconds), searches);
}

const WORDS: Readonly<Record<Language, (handle: string, seconds: number, searches: number) => string>> = {
  en: (handle, seconds, searches) => `This answer is not finished. The research continues, and it is not billed again.

To get the answer, call the same tool again with the same arguments, or with this query:

${handle}

Time so far: ${seconds} s. Searches so far: ${searches}.`,
  ja: (handle, seconds, searches) => `この回答はまだ完了していません。調査は続いています。再度の課金はありません。

回答を受け取るには、同じツールを、同じ引数か次の query で、もう一度呼び出してください。

${handle}

これまでの時間: ${seconds} 秒。これまでの検索: ${searches} 回。`,
};
