import { withoutEnd } from '../values/clean-text.ts';
import { fenceAfter } from '../values/code-fence.ts';
import type { CitedPage } from './citation.ts';
import { URLS } from './sources-section.ts';

/** Maximum number of links that are read of an answer. */
const MAX_LINKS = 200;

/** Code, or an image, which links to no page. */
const NO_LINK = /`[^`]*`|!\[[^[\]]{0,300}\]\([^()\s]{0,2048}/g;

/** The web pages to which a text of the model links, in order. They have no titles: the list of sources, which replaces the model's own, shows none. */
export function linkedPages(markdown: string): readonly CitedPage[] {
  const pages: CitedPage[] = [];
  let fence = '';
  for (const line of markdown.split('\n')) {
    const isCode = fence !== '';
    fence = fenceAfter(line, fence);
    if (isCode || fence !== '') continue;
    for (const [url] of line.replace(NO_LINK, ' ').matchAll(URLS)) pages.push({ url: withoutEnd(url, /[.,;:!?*_~`]/) });
    if (pages.length >= MAX_LINKS) break;
  }
  return pages;
}
