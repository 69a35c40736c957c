import { languageOf } from '../../../../domain/answers/question.ts';

/** Questions in the order of their similarity to a text: those in its language first, then those with more of its words. */
export function bySimilarity(questions: readonly string[], text: string): readonly string[] {
  const language = languageOf(text);
  const words = wordsOf(text);
  const ranked = questions.map((question) => ({
    question,
    isSameLanguage: languageOf(question) === language ? 1 : 0,
    shared: [...wordsOf(question)].filter((word) => words.has(word)).length,
  }));
  return ranked
    .sort((a, b) => b.isSameLanguage - a.isSameLanguage || b.shared - a.shared)
    .map(({ question }) => question);
}

/** The words of a text, also of one without blanks between them. */
function wordsOf(text: string): ReadonlySet<string> {
  const segments = [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(text.normalize('NFKC').toLowerCase())];
  return new Set(segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment));
}
