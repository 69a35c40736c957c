import { withoutEnd } from '../values/clean-text.ts';
import { TOOL_NAMES, type ToolName } from './question.ts';

/** The content of a handle. It names the response of the API that is, or will be, the answer to a question. */
export interface AnswerHandle {
  readonly tool: ToolName;
  /** `[A-Za-z0-9_-]{1,90}` */
  readonly responseId: string;
  /** 22 characters of `[A-Za-z0-9_-]`. */
  readonly signature: string;
}

const LETTERS = { answer: 'a', answer_detailed: 'd', answer_quick: 'q' } as const satisfies Record<ToolName, string>;

const BEGINNING = /^la1\.[adq]\./;
const HANDLE = /^la1\.([adq])\.([\w-]{1,90})\.([\w-]{22})$/;

/** Characters that people and models put around a handle. */
const WRAPPING = /[\s\p{Quotation_Mark}`<>]/u;
const OPENING = /^[\s\p{Quotation_Mark}`<>]+/u;

/** The handle as a text of at most 128 characters, `[A-Za-z0-9._-]`. */
export function toHandle({ tool, responseId, signature }: AnswerHandle): string {
  return `la1.${LETTERS[tool]}.${responseId}.${signature}`;
}

/**
 * The handle that a query consists of, or `malformed` for another word that begins like a handle and is therefore no question.
 * Undefined for a question. Quotation marks around the word, and one full stop after it, are ignored.
 */
export function handleIn(query: string): AnswerHandle | 'malformed' | undefined {
  const begun = query.replace(OPENING, '');
  if (!BEGINNING.test(begun)) return undefined;
  const sentence = withoutEnd(begun, WRAPPING);
  const word = /[.。]$/.test(sentence) ? withoutEnd(sentence.slice(0, -1), WRAPPING) : sentence;
  if (/\s/.test(word)) return undefined;
  const [, letter, responseId, signature] = HANDLE.exec(word) ?? [];
  const tool = TOOL_NAMES.find((tool) => LETTERS[tool] === letter);
  return tool === undefined || responseId === undefined || signature === undefined
    ? 'malformed'
    : { tool, responseId, signature };
}
