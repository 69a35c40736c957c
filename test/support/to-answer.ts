import { type AnswerContext, renderAnswer } from '../../src/domain/answers/answer-result.ts';
import { chooseCitations } from '../../src/domain/answers/chosen-citations.ts';
import type { Reply } from '../../src/domain/answers/reply.ts';

type ReplyContext = AnswerContext & Parameters<typeof chooseCitations>[1];

/** The answer to a reply, whose pages are not read. */
export function toAnswer(reply: Reply, context: ReplyContext) {
  return chooseCitations(reply, context).map((chosen) => renderAnswer(chosen, context));
}

/** A complete reply of a search that cites these pages. */
export function searched(text: string, ...cited: readonly string[]): Reply {
  const sources = { cited: cited.map((url) => ({ url })), consulted: [], opened: [] };
  return { text, ending: { kind: 'complete' }, searched: true, sources };
}

type Over = Partial<Omit<ReplyContext, 'question'>> & { readonly query?: string };

/** What becomes of a reply, with usual limits, on 2026-01-05. */
export function outcomeOf(reply: Reply, { query = 'What is the weather?', ...over }: Over = {}) {
  const question = { tool: 'answer', query, recencyDays: 60, maxResults: 5, domains: [] } as const;
  const limits = { maxCitations: 3, maxAnswerChars: 20_000 };
  return toAnswer(reply, { question, model: 'gpt-5.2', ...limits, today: '2026-01-05', ...over });
}

/** The answer to a reply that is one. */
export function answerTo(reply: Reply, over: Over = {}) {
  return outcomeOf(reply, over)._unsafeUnwrap();
}
