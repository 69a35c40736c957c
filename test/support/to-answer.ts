import { type AnswerContext, renderAnswer } from '../../src/domain/answers/answer-result.ts';
import { chooseCitations } from '../../src/domain/answers/chosen-citations.ts';
import type { KnownPage } from '../../src/domain/answers/known-page.ts';
import type { Reply } from '../../src/domain/answers/reply.ts';

export type ReplyContext = AnswerContext & Parameters<typeof chooseCitations>[1];

/** The answer to a reply: citations are chosen, and rendered with what is known of their pages. */
export function toAnswer(reply: Reply, context: ReplyContext, pages?: ReadonlyMap<string, KnownPage>) {
  return chooseCitations(reply, context).map((chosen) => renderAnswer(chosen, context, pages));
}
