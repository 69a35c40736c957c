import type { OwnSource } from '../grounded/own-source.ts';
import type { Kind } from '../values/kind.ts';
import type { NamedSources } from './citation.ts';

/** What a model replied to a question. */
export interface Reply {
  /** The text of the model; for a refusal, the text of the refusal. */
  readonly text: string;
  readonly ending: ReplyEnding;
  readonly searched: boolean;
  readonly sources: NamedSources;
  readonly own?: OwnSources;
  /** The day of access, `YYYY-MM-DD`. Only a recording has it: otherwise it is today. */
  readonly accessedOn?: string | undefined;
}

/** `marked` has the sources that the text names, in its order; `answered`, those of all calls that returned something. */
export interface OwnSources {
  readonly marked: readonly OwnSource[];
  readonly answered: readonly OwnSource[];
  /** A tool of a server that is not public has answered. */
  readonly hasPrivateOutput: boolean;
}

/** How a reply ended. `reason` is the API's, such as `max_output_tokens`. */
type ReplyEnding = Kind<'complete' | 'refused'> | Kind<'incomplete', { reason: string }>;
