import { hasFigures } from '../evidence/evidence.ts';
import type { Kind } from '../values/kind.ts';
import { withMarkdownLinks } from './html-links.ts';
import { linksIn, type TextLink } from './text-links.ts';

/** Maximum length of a text without its HTML, in UTF-16 code units. */
export const MAX_TEXT_CHARS = 200_000;

/** The links of a text, with the claims that have figures, and the number of further links; or the length of a text that is too long. */
export type CheckedText =
  | Kind<'links', { readonly links: readonly TextLink[]; readonly further: number }>
  | Kind<'too_long', { readonly characters: number }>;

/** Reads a text in Markdown or HTML. */
export function checkedText(text: string): CheckedText {
  const markdown = withMarkdownLinks(text);
  if (markdown.length > MAX_TEXT_CHARS) return { kind: 'too_long', characters: markdown.length };
  const { links, further } = linksIn(markdown);
  return { kind: 'links', links: links.map((link) => ({ ...link, claims: link.claims.filter(hasFigures) })), further };
}
