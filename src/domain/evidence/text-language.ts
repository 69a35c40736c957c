import type { Language } from '../answers/question.ts';

/** Frequent words of English, which say nothing about the subject of a text. */
export const FUNCTION_WORDS = new Set(
  `a an and are as at be been before but by can for from had has have he her his if in into is it its more no not of on only or she so some
  such than that the their then there these they this to was were what when which while who will with would about after all also any between
  during each most our out over up we you your it's until since where how may now new first used using use did do does said`.split(
    /\s+/,
  ),
);
/** Frequent words of other languages in Latin letters that English does not have. */
const OTHERS = new Set(
  `der die das und ist nicht ein eine einen den dem des von mit für auf wurde zu im le la les du et est une un que dans pour par sur au aux
  el los las del y por con una en se il di che è per non della da dos em um uma não de het een van voor och som är och av på na nie się jest`.split(
    /\s+/,
  ),
);

/** The language of a text, judged by its words and not by a tag; undefined if it is neither English nor Japanese. */
export function textLanguage(text: string): Language | undefined {
  const sample = text.slice(0, 20_000);
  const count = (pattern: RegExp) => sample.match(pattern)?.length ?? 0;
  const [letters, latin] = [count(/\p{L}/gu), count(/[a-z]/gi)];
  if (count(/[ぁ-んァ-ヶ]/g) > letters * 0.1) return 'ja';
  const found = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [english = 0, others = 0] = [FUNCTION_WORDS, OTHERS].map(
    (list) => found.filter((word) => list.has(word)).length,
  );
  const isEnglish = english > 2 * others && english > found.length * 0.04;
  return latin > letters * 0.8 && isEnglish ? 'en' : undefined;
}
