import type { CitationEvidence } from '../answers/citation.ts';
import { withoutUndefined } from '../values/json.ts';
import { figureIndex, missingFigures } from './figures.ts';
import { type Passage, pageAt, passageFor } from './passages.ts';
import { textLanguage } from './text-language.ts';

/** The texts of a page. */
export interface PageText {
  /** The visible text, as parts: elements such as cells, items and paragraphs separate them by a line break. At most 300,000 characters. */
  readonly visible: string;
  /** Further texts whose figures count, but to which no link can lead: `title`, `meta`, `time[datetime]`, `img[alt]`. */
  readonly other: readonly string[];
  /** Whether the page was too long, and was not read to its end. */
  readonly isCut: boolean;
  /** Whether it is data, such as CSV or JSON, whose few words have no language. */
  readonly isData?: boolean;
  /** The indexes in `visible` at which the pages of a PDF begin. */
  readonly pages?: readonly number[];
}

const MIN_SHARE = 0.26;

/** Compares claims with the page that they cite; undefined without any finding. A page that was cut gives only a quote, and a page in another language nothing. */
export function evidenceFor(
  claims: readonly string[],
  { visible, other, isCut, isData = false }: PageText,
): CitationEvidence | undefined {
  if (claims.length === 0) return undefined;
  const language = textLanguage(visible);
  const isComparable = !isCut && (language !== undefined || isData);
  const missing = isComparable ? missingFigures(claims, figureIndex([visible, ...other].join('\n'))) : [];
  const { quote, isUnrelated } = resemblance(claims, visible, language);
  const unrelated = isUnrelated && isComparable ? (true as const) : undefined;
  if (quote === undefined && missing.length === 0 && unrelated === undefined) return undefined;
  return withoutUndefined({ quote, missing: missing.length > 0 ? missing : undefined, unrelated });
}

/** The figures of a claim that are not on a page, and the most similar passage. */
export interface FigureFinding {
  readonly missing: readonly string[];
  readonly passage?: Passage | undefined;
}

/** Compares the figures of each claim with a page; undefined if it was cut, or if its words are in another language than English and Japanese. */
export function figuresOn(
  claims: readonly string[],
  { visible, other, isCut, isData = false, pages }: PageText,
): readonly FigureFinding[] | undefined {
  const language = textLanguage(visible);
  if (isCut || (language === undefined && !isData)) return undefined;
  const index = figureIndex([visible, ...other].join('\n'));
  return claims.map((claim) => {
    const { quote: text, middle } = resemblance([claim], visible, language);
    const passage = text === undefined ? undefined : withoutUndefined({ text, page: pageAt(middle, pages) });
    return { missing: missingFigures([claim], index), passage };
  });
}

/** The best passage for any of the claims, or the finding that no passage resembles one. */
function resemblance(claims: readonly string[], visible: string, language: ReturnType<typeof textLanguage>) {
  const comparable = claims.filter((claim) => textLanguage(claim) === language);
  if (language === undefined || comparable.length === 0) return { quote: undefined, middle: 0, isUnrelated: false };
  const passages = comparable.map((claim) => passageFor(claim, visible));
  const best = passages.reduce((best, passage) => (passage.share > best.share ? passage : best));
  if (best.share >= MIN_SHARE) return { quote: best.quote || undefined, middle: best.middle, isUnrelated: false };
  const isLong = (claim: string) => (language === 'ja' ? claim.length >= 8 : claim.split(' ').length >= 4);
  return {
    quote: undefined,
    middle: 0,
    isUnrelated: claims.every((claim) => comparable.includes(claim) && isLong(claim)),
  };
}
