import { GroundedSearch, type GroundedSearchOptions } from '../grounded/grounded-search.ts';
import type { Config } from '../ports/config.ts';
import type { ApiProbe, LlmSearch } from '../ports/llm-search.ts';
import type { CitedPages, TextReader } from '../ports/readers.ts';
import { AnswerQuery, type AnswerQueryDependencies } from './answer-query.ts';
import { CoalescingSearch } from './coalescing-search.ts';
import { type Check, diagnoseSetup } from './diagnose-setup.ts';
import { PageChecks } from './page-checks.ts';

/** The use cases, as drivers (MCP, HTTP, the command line) call them. */
export interface Application {
  readonly answerQuery: Pick<AnswerQuery, 'execute'>;
  /** The cited pages that were checked, by state; absent if pages are not read. */
  readonly checkCounts?: PageChecks['counts'] | undefined;
  /** Ends the waits for answers that take minutes, as a time limit does. Returns whether a call was waiting. */
  readonly endWaits?: () => boolean;
  /** Checks each step on the way to an answer. `keyProblem` says why there is no usable API key, if there is none. */
  diagnoseSetup(keyProblem: string | undefined, signal: AbortSignal): AsyncGenerator<Check>;
}

/** What the core needs from the outside. */
interface Ports extends Pick<AnswerQueryDependencies, 'long' | 'clock' | 'logger'> {
  readonly llmSearch: LlmSearch;
  /** Creates the port when it is first needed. */
  readonly apiProbe: () => Promise<ApiProbe>;
  /** Absent if cited pages are not to be read. */
  readonly citedPages?: CitedPages | undefined;
  readonly texts: TextReader;
}

/** What grounded answers need; absent if they are not configured. */
export type Grounding = Omit<GroundedSearchOptions, 'llmSearch' | 'clock' | 'logger'>;

/** Composes the core; production, tests and every driver use this function. */
export function createApplication(ports: Ports, config: Config, grounding?: Grounding): Application {
  const { llmSearch, apiProbe, clock, logger, citedPages, texts, long } = ports;
  const web = new CoalescingSearch(llmSearch);
  const grounded = grounding && new GroundedSearch({ ...grounding, llmSearch: web, clock, logger });
  const pageChecks = citedPages && new PageChecks(citedPages, texts, config.citations);
  const answerQuery = new AnswerQuery({ web, grounded, long, clock, logger, config, pageChecks });
  const hasLong = long !== undefined && config.longAnswers !== undefined;
  const setup = { apiProbe, clock, answerQuery, config, isLong: hasLong, web: grounding?.policy.web };
  return {
    checkCounts: pageChecks?.counts,
    endWaits: () => long?.endWaits() === true,
    answerQuery,
    diagnoseSetup: (keyProblem, signal) => diagnoseSetup(setup, keyProblem, signal),
  };
}
