import type { Language } from './question.ts';

/** The line about unfinished answers in the instructions for clients. */
export const UNFINISHED_INSTRUCTIONS = 'If a result says that it is not finished, call the tool again as it says.';

/** The text for a caller whose time limit has passed while the search continues: what happened, what to do, and the progress so far. */
export function unfinishedAnswer(language: Language, handle: string, waitedMs: number, searches: number): string {
  return WORDS[language](handle, Math.round(waitedMs / 60_000), searches);
}

const WORDS: Readonly<Record<Language, (handle: string, minutes: number, searches: number) => string>> = {
  en: (handle, minutes, searches) => `This answer is not finished. The research continues, and it is not billed again.

To get the answer, call the same tool again with the same arguments, or with this query:

${handle}

Time so far: ${minutes < 1 ? 'less than 1' : minutes} min. Searches so far: ${searches}.`,
  ja: (handle, minutes, searches) => `この回答はまだ完了していません。調査は続いています。再度の課金はありません。

回答を受け取るには、同じツールを、同じ引数か次の query で、もう一度呼び出してください。

${handle}

これまでの時間: ${minutes < 1 ? '1 分未満' : `${minutes} 分`}。これまでの検索: ${searches} 回。`,
};
