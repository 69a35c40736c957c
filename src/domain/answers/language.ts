/** The languages of this server's own messages. */
export type Language = 'ja' | 'en';

/** The language for messages about a question: Japanese if it contains kana. Han alone may be Chinese, so that is English (spec 9). */
export function languageOf(text: string): Language {
  return /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? 'ja' : 'en';
}
