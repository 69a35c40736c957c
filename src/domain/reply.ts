import type { NamedSources } from './citation.ts';

/** What a model replied to a question, before it becomes an answer (ruling 14). */
export interface Reply {
  /** The text as the model wrote it; for a refusal, its words. */
  readonly text: string;
  readonly ending: ReplyEnding;
  /** Whether a web search ran. */
  readonly searched: boolean;
  readonly sources: NamedSources;
  /** The day of access where it is not today's: that of a recording, `YYYY-MM-DD`. */
  readonly accessedOn?: string;
}

/** How a reply ended: `cut` keeps its text, and names what cut it (`max_output_tokens`). */
export type ReplyEnding =
  | { readonly kind: 'complete' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'cut'; readonly reason: string };
