import { bareUrls } from '../values/bare-urls.ts';
import { fencedLines } from '../values/code-fence.ts';
import type { CitedPage } from './citation.ts';

/** Maximum number of links that are read of an answer. */
const MAX_LINKS = 200;

/** Code, or an image, which links to no page. */
const NO_LINK = /`[^`]*`|!\[[^[\]]{0,300}\]\([^()\s]{0,2048}/g;

/** The web pages to which a text of the model links, in order. They have no titles: the list of sources, which replaces the model's own, shows none. */
export function linkedPages(markdown: string): readonly CitedPage[] {
  const pages: CitedPage[] = [];
  const lines = markdown.split('\n');
  const { isCode } = fencedLines(lines);
  for (const [at, line] of lines.entries()) {
    if (isCode[at] === true) continue;
    const text = line.replace(NO_LINK, ' ');
    for (const { start, end, isPlaceholder } of bareUrls(text))
      if (!isPlaceholder) pages.push({ url: text.slice(start, end) });
    if (pages.length >= MAX_LINKS) break;
  }
  return pages;
}
