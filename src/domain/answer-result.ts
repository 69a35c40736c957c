import { err, ok, type Result } from 'neverthrow';
import { type Citation, toCitations } from './citation.ts';
import { cleanText } from './clean-text.ts';
import { type Language, languageOf } from './language.ts';
import type { Question } from './question.ts';
import type { Reply } from './reply.ts';
import { sourcesSection, splitSources } from './sources-section.ts';

/** The output contract (spec 3.2): what a caller of any tool gets, as JSON. */
export interface AnswerResult {
  readonly answer: string;
  readonly used_search: boolean;
  readonly citations: readonly Citation[];
  /** The model id of the profile that was used (ruling 6). */
  readonly model: string;
}

/** A reply without a single word for the caller. `reason` tells why, where the API does. */
export interface EmptyAnswer {
  readonly kind: 'empty_answer';
  readonly reason?: string;
}

export interface AnswerContext {
  readonly question: Question;
  readonly model: string;
  readonly maxCitations: number;
  /** The day of the question in Asia/Tokyo. */
  readonly today: string;
}

/**
 * Makes the answer of a reply: text cleaned, a cut said in it, `Sources:` at its end whenever a search was used (rulings
 * 8, 9 and 14). An empty answer is never a success.
 */
export function toAnswerResult(reply: Reply, context: AnswerContext): Result<AnswerResult, EmptyAnswer> {
  const accessedOn = reply.accessedOn ?? context.today;
  const text = cleanText(reply.text).trim();
  if (text === '') return err(emptyAnswer(reply));

  const used_search = reply.searched || reply.sources.cited.length > 0;
  const citations = used_search ? toCitations(reply.sources, context.maxCitations, accessedOn) : [];
  const note = reply.ending.kind === 'cut' ? [cutNote(reply.ending.reason, languageOf(context.question.query))] : [];
  const answer = used_search ? withSources(text, note, citations, accessedOn) : [text, ...note].join('\n\n');
  return ok({ answer, used_search, citations, model: context.model });
}

function withSources(
  text: string,
  note: readonly string[],
  citations: readonly Citation[],
  accessedOn: string,
): string {
  const { body, entries } = splitSources(
    text,
    citations.map(({ url }) => url),
  );
  const paragraphs = [body, ...note, sourcesSection(entries, citations, accessedOn)];
  return paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
}

/** The words that tell a reader that the text is not whole. */
function cutNote(reason: string, language: Language): string {
  return language === 'ja'
    ? `[回答は途中で切れています（${reason}）。]`
    : `[The answer was cut before its end (${reason}).]`;
}

function emptyAnswer({ ending }: Reply): EmptyAnswer {
  return ending.kind === 'cut' ? { kind: 'empty_answer', reason: ending.reason } : { kind: 'empty_answer' };
}
