import { err, ok, type Result } from 'neverthrow';
import type { OwnSource } from '../grounded/own-source.ts';
import { withoutReferences } from '../values/citation-marks.ts';
import { cleanLine, cleanText } from '../values/clean-text.ts';
import { isOnHost, isWebUrl } from '../values/web-url.ts';
import type { EmptyAnswer } from './answer-error.ts';
import { type Citation, type CitedPage, type NamedSources, pageKey, toCitations } from './citation.ts';
import { linkedPages } from './linked-pages.ts';
import type { Reply } from './reply.ts';
import { type ListedSource, withoutSections } from './sources-section.ts';

/** A reply as text and citations: the first step of an answer. The pages are read next, then the answer is rendered. */
export interface ChosenCitations {
  /** The text of the model, cleaned, without its own sections of sources. */
  readonly body: string;
  readonly usedSearch: boolean;
  readonly citations: readonly Citation[];
  /** The sources that the model's own sections listed. */
  readonly listed: readonly ListedSource[];
  /** The day of access, `YYYY-MM-DD`. */
  readonly accessedOn: string;
  readonly ending: Reply['ending'];
}

interface Choice {
  readonly maxCitations: number;
  /** The day of the question, `YYYY-MM-DD`. */
  readonly today: string;
  readonly blockedDomains?: readonly string[];
}

/** Chooses the citations of a reply. A reply without text is no answer. */
export function chooseCitations(received: Reply, choice: Choice): Result<ChosenCitations, EmptyAnswer> {
  const { maxCitations, today, blockedDomains = [] } = choice;
  const isAllowed = (url: string) => !isOnHost(url, blockedDomains);
  const text = withoutReferences(cleanText(received.text)).trim();
  // Some servers search, and link their sources in the text only.
  const isLinked = received.searched && received.sources.cited.length === 0;
  const named = isLinked
    ? { ...received.sources, cited: linkedIn(text, received.sources.consulted) }
    : received.sources;
  // The API does not reliably leave out blocked hosts.
  const reply = { ...received, sources: filterSources(named, isAllowed) };
  const { ending, accessedOn = today } = reply;
  if (text === '')
    return err({ kind: 'empty_answer', reason: ending.kind === 'incomplete' ? ending.reason : undefined });

  const usedSearch = reply.searched || received.sources.cited.length > 0;
  const citations = citationsOf(reply, usedSearch, maxCitations, accessedOn);
  const common = { usedSearch, citations, accessedOn, ending };
  if (!usedSearch && citations.length === 0) return ok({ ...common, body: text, listed: [] });
  const ids = [...citations.map(({ url }) => url), ...reply.sources.consulted];
  const { body, listed } = withoutSections(text, ids.filter((id) => !isWebUrl(id)).map(cleanLine));
  return ok({ ...common, body, listed: listed.filter(({ url }) => isAllowed(url)) });
}

/** The pages to which a text links, then those that only its own sections of sources list. */
function linkedIn(text: string, consulted: readonly string[]): readonly CitedPage[] {
  const { body, listed } = withoutSections(text, consulted.filter((id) => !isWebUrl(id)).map(cleanLine));
  return [...linkedPages(body), ...listed.filter(({ url }) => isWebUrl(url)).map(({ url }) => ({ url }))];
}

/** Own sources that the text marks come first. If it marks none, all own sources that answered share the places with the web. */
function citationsOf({ sources, own }: Reply, usedSearch: boolean, max: number, accessedOn: string): Citation[] {
  const web = usedSearch ? sources : { cited: [], consulted: [], opened: [] };
  if (own === undefined) return toCitations(web, max, accessedOn);
  const isMarked = own.marked.length > 0;
  const named = uniqueSources(isMarked ? own.marked : own.answered);
  const first = isMarked ? named.slice(0, max) : [];
  const others = isMarked ? [] : named;
  const merged: NamedSources = {
    ...web,
    cited: [...others.filter(({ url }) => isWebUrl(url)), ...web.cited],
    own: others.filter(({ url }) => !isWebUrl(url)).map(({ url }) => url),
  };
  const rest = toCitations(withoutPages(merged, first), max - first.length, accessedOn);
  const changedOn = new Map(named.map(({ url, changedOn }) => [pageKey(url), changedOn]));
  return [...first.map(({ url, title }) => ({ url, title })), ...rest].map((source) => ({
    ...source,
    published_at: changedOn.get(pageKey(source.url)) ?? accessedOn,
  }));
}

/** Removes the pages that are already citations. If all cited pages are, consulted pages do not replace them. */
function withoutPages(sources: NamedSources, known: readonly OwnSource[]): NamedSources {
  const keys = new Set(known.map(({ url }) => pageKey(url)));
  const isKnown = (url: string) => keys.has(pageKey(cleanLine(url)));
  const isAllKnown = sources.cited.length > 0 && sources.cited.every(({ url }) => isKnown(url));
  return filterSources(sources, (url) => !isKnown(url) && !(isAllKnown && isWebUrl(url)));
}

function filterSources(sources: NamedSources, isKept: (url: string) => boolean): NamedSources {
  const cited = sources.cited.filter(({ url }) => isKept(url));
  return { ...sources, cited, consulted: sources.consulted.filter(isKept), opened: sources.opened.filter(isKept) };
}

/** Keeps the first source of each page. */
function uniqueSources(sources: readonly OwnSource[]): readonly OwnSource[] {
  const byPage = new Map<string, OwnSource>();
  for (const source of sources) if (!byPage.has(pageKey(source.url))) byPage.set(pageKey(source.url), source);
  return [...byPage.values()];
}
