import type { CitationEvidence } from '../answers/known-page.ts';
import { withoutUndefined } from '../values/json.ts';
import { claimsFor } from './claims.ts';
import { missingFigures } from './figures.ts';
import { passagesFor } from './passages.ts';
import { textLanguage } from './text-language.ts';

/** What is read of a page (ruling E9). */
export interface PageText {
  /** The visible text, as parts: elements such as cells, items and paragraphs separate them by a line break. At most 300,000 characters. */
  readonly visible: string;
  /** Figures also count here: `meta`, `time[datetime]`, `img[alt]` (ruling E10). */
  readonly other: readonly string[];
  /** Something of the page was not read: it was cut (ruling E11). */
  readonly isCut: boolean;
}

const MIN_SHARE = 0.26;

/** What is known about the claims that cite a page; undefined if nothing. `text` is the answer in Markdown, `url` that of the citation. */
export function evidenceFor(text: string, url: string, page: PageText): CitationEvidence | undefined {
  const claims = claimsFor(text, url);
  if (claims.length === 0) return undefined;

  const { visible, other } = page;
  const language = textLanguage(visible);
  const figures = missingFigures(claims, [visible, ...other].join('\n'), language === undefined);
  const resembling = resemblance(claims, visible, language);
  // What takes too long to search counts as cut (ruling E17).
  const isCut = page.isCut || figures === undefined || resembling === undefined;
  const { quote, isUnrelated = false } = resembling ?? {};
  const missing = isCut || figures.length === 0 ? undefined : figures;
  // A page with all of several figures may say the same in other words.
  const hasFigures = figures?.length === 0 && (missingFigures(claims, '', false) ?? []).length > 1;
  const unrelated = isUnrelated && !isCut && !hasFigures ? (true as const) : undefined;
  const found = withoutUndefined({ quote, missing, unrelated });
  return Object.keys(found).length > 0 ? found : undefined;
}

/** The best passage of all claims, or that none resembles any of them (ruling E11). Undefined if the search takes too long. */
function resemblance(claims: readonly string[], visible: string, language: ReturnType<typeof textLanguage>) {
  const comparable = language === undefined ? [] : claims.filter((claim) => textLanguage(claim) === language);
  if (language === undefined || comparable.length === 0) return {};

  const passages = passagesFor(comparable, visible, language);
  const best = passages?.reduce((best, passage) => (passage.share > best.share ? passage : best));
  if (best === undefined) return undefined;
  if (best.share >= MIN_SHARE) return { quote: best.quote || undefined };
  const isLong = (claim: string) => (language === 'ja' ? claim.length >= 8 : claim.split(' ').length >= 4);
  return { isUnrelated: claims.every((claim) => comparable.includes(claim) && isLong(claim)) };
}
