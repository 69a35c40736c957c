/** The languages in which this server has words of its own. */
export type Language = 'ja' | 'en';

/** The language of a question: Japanese if it holds kana or kanji, else English (spec 9). */
export function languageOf(text: string): Language {
  return /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(text) ? 'ja' : 'en';
}
