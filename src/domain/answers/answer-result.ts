import { err, ok, type Result } from 'neverthrow';
import type { OwnSource } from '../grounded/own-source.ts';
import { cleanLine, cleanText } from '../values/clean-text.ts';
import { closeFence } from '../values/code-fence.ts';
import { isWebUrl, namesBlockedHost, namesUnusable, withoutUserInfo } from '../values/web-url.ts';
import type { EmptyAnswer } from './answer-error.ts';
import { cutAtParagraph } from './answer-size.ts';
import { type Citation, type NamedSources, pageKey, toCitations } from './citation.ts';
import { deadMark, type KnownPage } from './known-page.ts';
import { type Language, languageOf } from './language.ts';
import type { Question } from './question.ts';
import type { Reply } from './reply.ts';
import { sourcesSection, splitSources } from './sources-section.ts';

/** The output contract (spec 3.2): the JSON that every answer tool returns. */
export interface AnswerResult {
  readonly answer: string;
  readonly used_search: boolean;
  readonly citations: readonly Citation[];
  /** The model ID of the profile that was used (ruling 6). */
  readonly model: string;
}

export interface AnswerContext {
  readonly question: Question;
  readonly model: string;
  readonly maxCitations: number;
  /** Maximum length of an answer, sources included, in UTF-16 code units. */
  readonly maxAnswerChars: number;
  /** The day of the question, `YYYY-MM-DD`. */
  readonly today: string;
  readonly blockedDomains?: readonly string[];
  readonly pages?: ReadonlyMap<string, KnownPage> | undefined;
}

/** Converts a reply to an answer (rulings 8, 9 and 14). An empty answer is never a success. */
export function toAnswerResult(received: Reply, context: AnswerContext): Result<AnswerResult, EmptyAnswer> {
  const isBlocked = (text: string) => namesBlockedHost(text, context.blockedDomains ?? []);
  // The API does not reliably leave out blocked hosts (ruling A2).
  const reply = { ...received, sources: filterSources(received.sources, (url) => !isBlocked(url)) };
  const { ending, accessedOn = context.today } = reply;
  const isIncomplete = ending.kind === 'incomplete';
  const text = cleanText(reply.text).trim();
  if (text === '') return err({ kind: 'empty_answer', reason: isIncomplete ? ending.reason : undefined });

  const used_search = reply.searched || received.sources.cited.length > 0;
  const citations = citationsOf(reply, used_search, context.maxCitations, accessedOn).map((citation) => {
    const { publishedOn, evidence } = context.pages?.get(citation.url) ?? {};
    return { ...citation, published_at: publishedOn ?? citation.published_at, ...(evidence && { evidence }) };
  });
  const hasSources = used_search || citations.length > 0;
  const urls = citations.map(({ url }) => url);
  const { body, entries } = hasSources ? splitSources(text, urls) : { body: text, entries: [] };
  const shown = entries.filter((entry) => !isBlocked(entry) && !namesUnusable(entry)).map(withoutUserInfo);
  const language = languageOf(context.question.query);
  const marks = [...(context.pages ?? [])].map(([url, page]) => [url, deadMark(page, language)] as const);
  const section = (entries: readonly string[]) =>
    hasSources ? sourcesSection(entries, citations, accessedOn, marks) : '';
  const notes = NOTES[language];
  const parts = {
    body: isIncomplete ? closeFence(body) : body,
    note: isIncomplete ? notes.incomplete(cleanLine(ending.reason)) : '',
    sources: section(shown),
    citationsOnly: section([]),
  };
  const answer = withinLimit(parts, context.maxAnswerChars, notes);
  return ok({ answer, used_search, citations, model: context.model });
}

/** Own sources that the text marks come first; if it marks none, those that answered share the places (ruling L24). */
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

/** The sources without the pages that are already citations. If each cited page is one, no other page takes its place. */
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

/** The first of each page. */
function uniqueSources(sources: readonly OwnSource[]): readonly OwnSource[] {
  const byPage = new Map<string, OwnSource>();
  for (const source of sources) if (!byPage.has(pageKey(source.url))) byPage.set(pageKey(source.url), source);
  return [...byPage.values()];
}

const NOTES = {
  en: {
    incomplete: (reason: string) =>
      `[The answer was cut off${reason === 'max_output_tokens' ? ' at the output token limit' : ''} (${reason}).]`,
    fewerSources: '[The answer is too long: sources other than the citations were omitted.]',
    cut: (shown: number, total: number) =>
      `[The answer is too long and was cut here: ${shown} of ${total} characters are shown.]`,
  },
  ja: {
    incomplete: (reason: string) => `[回答は途中で切れています（${reason}）。]`,
    fewerSources: '[回答が長いため、引用以外の情報源を省きました。]',
    cut: (shown: number, total: number) =>
      `[回答が長いため、ここで切りました（全 ${total} 文字のうち ${shown} 文字）。]`,
  },
};

/** The parts as one text of at most `max`: without the end of the body, and if need be with `citationsOnly` in place of `sources`. */
function withinLimit(
  { body, note, sources, citationsOnly }: Readonly<Record<'body' | 'note' | 'sources' | 'citationsOnly', string>>,
  max: number,
  notes: (typeof NOTES)[Language],
): string {
  const complete = joined([body, note, sources]);
  if (complete.length <= max) return complete;

  const dropsSources = sources.length > max / 2 && citationsOnly.length < sources.length;
  const ending = dropsSources ? [note, notes.fewerSources, citationsOnly] : [note, sources];
  const shorter = joined([body, ...ending]);
  if (shorter.length <= max) return shorter;

  // The note is longest for the complete body. The fence that closes a block of code may have any length.
  let room = max - (joined(['-', notes.cut(body.length, body.length), ...ending]).length - 1);
  for (;;) {
    const beginning = cutAtParagraph(body, room);
    const cut = joined([closeFence(beginning), notes.cut(beginning.length, body.length), ...ending]);
    if (cut.length <= max || room <= 0) return cut;
    room -= cut.length - max;
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}
