import { err, ok, type Result } from 'neverthrow';
import { cutAtParagraph } from './answer-size.ts';
import { type Citation, toCitations } from './citation.ts';
import { cleanLine, cleanText } from './clean-text.ts';
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
  const note = reply.ending.kind === 'cut' ? cutNote(cleanLine(reply.ending.reason), language) : '';
  const { body, entries } = used_search
    ? splitSources(
        text,
        citations.map(({ url }) => url),
      )
    : { body: text, entries: [] };
  const sources = used_search ? sourcesSection(entries, citations, accessedOn) : '';
  const parts = { body: note === '' ? body : closeFence(body), note, sources };
  const bare = used_search ? sourcesSection([], citations, accessedOn) : '';
  const answer = withinBounds(parts, bare, context.maxAnswerChars, language);
  return ok({ answer, used_search, citations, model: context.model });
}

interface AnswerParts {
  readonly body: string;
  readonly note: string;
  readonly sources: string;
}

/**
 * The parts as one text of at most `max`. What is too long loses the end of its body; if the sources that the model listed
 * fill more than half, those go that are no citations (`bare` holds the citations alone). Either is said.
 */
function withinBounds({ body, note, sources }: AnswerParts, bare: string, max: number, language: Language): string {
  const whole = joined([body, note, sources]);
  if (whole.length <= max) return whole;

  const dropsSources = sources.length > max / 2 && bare.length < sources.length;
  const kept = dropsSources ? bare : sources;
  const notes = dropsSources ? joined([note, sourcesNote(language)]) : note;
  const shorter = joined([body, notes, kept]);
  if (shorter.length <= max) return shorter;

  // Its note is never longer than for the whole body; what closes a block of code that was cut may be as long as it likes.
  let room = max - (joined(['-', sizeNote(body.length, body.length, language), notes, kept]).length - 1);
  for (;;) {
    const beginning = cutAtParagraph(body, room);
    const cut = joined([closeFence(beginning), sizeNote(beginning.length, body.length, language), notes, kept]);
    if (cut.length <= max || room <= 0) return cut;
    room -= cut.length - max;
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The words that tell a reader that the text is not whole. */
function cutNote(reason: string, language: Language): string {
  return language === 'ja'
    ? `[回答は途中で切れています（${reason}）。]`
    : `[The answer was cut before its end (${reason}).]`;
}

function sourcesNote(language: Language): string {
  return language === 'ja'
    ? '[回答が長いため、引用以外の情報源を省きました。]'
    : '[The answer is too long: listed sources beyond the citations were left out.]';
}

function sizeNote(shown: number, whole: number, language: Language): string {
  return language === 'ja'
    ? `[回答が長いため、ここで切りました（全 ${whole} 文字のうち ${shown} 文字）。]`
    : `[The answer is too long and was cut here: ${shown} of ${whole} characters are shown.]`;
}

function emptyAnswer({ ending }: Reply): EmptyAnswer {
  return ending.kind === 'cut' ? { kind: 'empty_answer', reason: ending.reason } : { kind: 'empty_answer' };
}
