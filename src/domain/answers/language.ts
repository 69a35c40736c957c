import { MAX_EXAMINED } from '../values/clean-text.ts';

/** The languages of this server's own messages. */
export type Language = 'ja' | 'en';

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const JAPANESE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/gu;
const LATIN = /\p{Script=Latin}/gu;
/** A quotation ends before the next one of its kind begins, so that marks that do not close are read once. */
const QUOTED = /「[^「」]*」|『[^『』]*』|“[^“”]*”|"[^"]*"/g;
/** A Japanese word takes about a third of the characters of an English one. */
const CHARACTERS_PER_CHARACTER = 3;

/**
 * The language for messages about a question: Japanese if the question, without its quotations, is mostly Japanese. Han without kana may be Chinese, and
 * gets English.
 */
export function languageOf(text: string): Language {
  const beginning = text.slice(0, MAX_EXAMINED);
  const own = beginning.replace(QUOTED, ' ');
  const asked = /\p{L}/u.test(own) ? own : beginning;
  const japanese = asked.match(JAPANESE)?.length ?? 0;
  const latin = asked.match(LATIN)?.length ?? 0;
  return KANA.test(asked) && japanese * CHARACTERS_PER_CHARACTER >= latin ? 'ja' : 'en';
}
