import { cleanLine } from '../values/clean-text.ts';
import { closeFence } from '../values/code-fence.ts';
import type { ChosenCitations } from './chosen-citations.ts';
import { type Citation, deadMark, type KnownPage } from './citation.ts';
import { type Language, languageOf, type Question } from './question.ts';
import { sourcesSection } from './sources-section.ts';

/** The output contract: the JSON that every answer tool returns. */
export interface AnswerResult {
  readonly answer: string;
  readonly used_search: boolean;
  readonly citations: readonly Citation[];
  /** The model ID of the profile that was used. The ID that the API reports is in `_meta`. */
  readonly model: string;
}

export interface AnswerContext {
  readonly question: Question;
  readonly model: string;
  /** Maximum length of an answer, sources included, in UTF-16 code units. */
  readonly maxAnswerChars: number;
}

/** Renders an answer, which is the last step. `pages` has the known facts about its pages, by URL. */
export function renderAnswer(
  chosen: ChosenCitations,
  context: AnswerContext,
  pages: ReadonlyMap<string, KnownPage> = new Map(),
): AnswerResult {
  const { body, usedSearch, listed, accessedOn, ending } = chosen;
  const citations = chosen.citations.map((citation) => {
    const { publishedOn, evidence } = pages.get(citation.url) ?? {};
    return { ...citation, published_at: publishedOn ?? citation.published_at, ...(evidence && { evidence }) };
  });
  const language = languageOf(context.question.query);
  const markOf = (url: string) => deadMark(pages.get(url) ?? {}, language);
  const hasSources = usedSearch || citations.length > 0;
  const section = (listed: ChosenCitations['listed']) =>
    hasSources ? sourcesSection(citations, listed, accessedOn, markOf) : '';
  const notes = NOTES[language];
  const isIncomplete = ending.kind === 'incomplete';
  const parts = {
    body: isIncomplete ? closeFence(body) : body,
    note: isIncomplete ? notes.incomplete(cleanLine(ending.reason)) : '',
    sources: section(listed),
    citationsOnly: section([]),
  };
  const answer = withinLimit(parts, context.maxAnswerChars, notes);
  return { answer, used_search: usedSearch, citations, model: context.model };
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

/** Joins the parts to a text of at most `max`. Cuts the body first, then replaces `sources` by `citationsOnly`. */
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

/** The beginning of a text, cut at a paragraph, line or sentence if that keeps half of `max` (UTF-16 units). */
export function cutAtParagraph(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = text.slice(0, Math.max(0, max)).replace(/[\uD800-\uDBFF]$/, '');
  for (const end of [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), endOfSentence(head)]) {
    if (end >= head.length / 2) return head.slice(0, end).trimEnd();
  }
  return head.trimEnd();
}

function endOfSentence(text: string): number {
  const last = [...text.matchAll(/[.!?](?=\s)|[。！？]/g)].at(-1);
  return last === undefined ? -1 : last.index + 1;
}
