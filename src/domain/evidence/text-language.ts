import type { Language } from '../answers/language.ts';

const MAX_SAMPLE = 20_000;
const ENGLISH = words(
  'the of and to is was were for that with by are from its it which has have be this or as at an in on',
);
/** Frequent words of other languages in Latin letters that English does not have. */
const OTHERS = words(
  `der die das und ist nicht ein eine einen den dem des von mit für auf wurde zu im le la les du et est une un que dans pour par sur au aux
  el los las del y por con una en se il di che è per non della da dos em um uma não de het een van voor og det som är och av på na nie się jest`,
);

/** The language of a text by its words, not by a tag; undefined if neither (ruling E11). */
export function textLanguage(text: string): Language | undefined {
  const sample = text.slice(0, MAX_SAMPLE);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const kana = sample.match(/[ぁ-んァ-ヶ]/g)?.length ?? 0;
  if (kana > letters * 0.1) return 'ja';

  const latin = sample.match(/[a-z]/gi)?.length ?? 0;
  const found = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const [english, others] = [ENGLISH, OTHERS].map((list) => found.filter((word) => list.has(word)).length);
  const isEnglish = (english ?? 0) > 2 * (others ?? 0) && (english ?? 0) > found.length * 0.04;
  // A short claim may have no such word.
  const isShort = others === 0 && found.length < 12 && latin === letters && letters > 0;
  return latin > letters * 0.8 && (isEnglish || isShort) ? 'en' : undefined;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
