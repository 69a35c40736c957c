import { err, ok, type Result } from 'neverthrow';
import { cutAtParagraph } from './answer-size.ts';
import { type Citation, toCitations } from './citation.ts';
import { cleanText } from './clean-text.ts';
import { closeFence } from './code-fence.ts';
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
  /** Longest answer, sources included, in UTF-16 units. */
  readonly maxAnswerChars: number;
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
  const language = languageOf(context.question.query);
  const note = reply.ending.kind === 'cut' ? cutNote(reply.ending.reason, language) : '';
  const { body, entries } = used_search
    ? splitSources(
        text,
        citations.map(({ url }) => url),
      )
    : { body: text, entries: [] };
  const sources = used_search ? boundedSources(entries, citations, accessedOn, context.maxAnswerChars) : '';
  const whole = note === '' ? body : closeFence(body);
  const bounded = boundedBody(whole, context.maxAnswerChars - note.length - sources.length, language);
  const answer = [...bounded, note, sources].filter((paragraph) => paragraph !== '').join('\n\n');
  return ok({ answer, used_search, citations, model: context.model });
}

/** Citations stay whole; what the model listed beyond them may go, where it would crowd out the answer. */
function boundedSources(
  entries: readonly string[],
  citations: readonly Citation[],
  accessedOn: string,
  max: number,
): string {
  const section = sourcesSection(entries, citations, accessedOn);
  return section.length <= max / 2 ? section : sourcesSection([], citations, accessedOn);
}

/** The body, or its beginning and a line that says so. */
function boundedBody(body: string, max: number, language: Language): readonly string[] {
  // Blank lines between the parts, and a fence that may have to be closed.
  const separators = 12;
  if (body.length + separators <= max) return [body];
  const beginning = cutAtParagraph(body, max - separators - sizeNote(body.length, body.length, language).length);
  return [closeFence(beginning), sizeNote(beginning.length, body.length, language)];
}

/** The words that tell a reader that the text is not whole. */
function cutNote(reason: string, language: Language): string {
  return language === 'ja'
    ? `[回答は途中で切れています（${reason}）。]`
    : `[The answer was cut before its end (${reason}).]`;
}

function sizeNote(shown: number, whole: number, language: Language): string {
  return language === 'ja'
    ? `[回答が長いため、ここで切りました（全 ${whole} 文字のうち ${shown} 文字）。]`
    : `[The answer is too long and was cut here: ${shown} of ${whole} characters are shown.]`;
}

function emptyAnswer({ ending }: Reply): EmptyAnswer {
  return ending.kind === 'cut' ? { kind: 'empty_answer', reason: ending.reason } : { kind: 'empty_answer' };
}
