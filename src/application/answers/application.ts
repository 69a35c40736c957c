import type { Result } from 'neverthrow';
import type { AnswerError } from '../../domain/answers/answer-error.ts';
import { GroundedSearch, type GroundedSearchOptions } from '../grounded/grounded-search.ts';
import type { ApiProbe } from '../ports/api-probe.ts';
import type { CitedPages } from '../ports/cited-pages.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config } from '../ports/config.ts';
import type { LlmSearch, SearchRequest } from '../ports/llm-search.ts';
import type { Logger } from '../ports/logger.ts';
import type { Answer } from './answer.ts';
import { AnswerQuery, type AnswerQueryInput, type LongDependencies } from './answer-query.ts';
import { CoalescingSearch } from './coalescing-search.ts';
import { type Check, diagnoseSetup } from './diagnose-setup.ts';
import type { LongAnswers } from './long-answers.ts';
import { PageChecks } from './page-checks.ts';

/** The use cases, as drivers (MCP, HTTP, the command line) call them. */
export interface Application {
  answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>>;
  /** The cited pages that were checked, by state; absent if pages are not read. */
  readonly checkCounts?: PageChecks['counts'] | undefined;
  /** Absent if no tool gives answers that take minutes. */
  readonly long?: LongAnswers | undefined;
  /** Of answers that take minutes, for clients that ask what becomes of them. */
  readonly tasks?: Pick<AnswerQuery, 'taskStatus' | 'cancelTask'> | undefined;
  /** Checks each step on the way to an answer. `keyProblem` says why there is no usable API key, if there is none. */
  diagnoseSetup(keyProblem: string | undefined, signal: AbortSignal): AsyncGenerator<Check>;
}

/** What the core needs from the outside. */
interface Ports {
  readonly llmSearch: LlmSearch;
  /** Created when first needed. */
  readonly apiProbe: () => Promise<ApiProbe>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent if cited pages are not to be read. */
  readonly citedPages?: CitedPages | undefined;
  /** Absent if no tool gives answers that take minutes. */
  readonly long?: Omit<LongDependencies, 'takes'> | undefined;
}

/** What grounded answers need; absent if they are not configured. */
export type Grounding = Omit<GroundedSearchOptions, 'llmSearch' | 'clock' | 'logger'>;

/** Composes the core; production, tests and every driver use this function. */
export function createApplication(ports: Ports, config: Config, grounding?: Grounding): Application {
  const { llmSearch, apiProbe, clock, logger, citedPages } = ports;
  const takes = (request: SearchRequest) =>
    config.longAnswers?.tools.includes(request.question.tool) === true && grounded?.mayUseTools(request) !== true;
  const long = ports.long && { ...ports.long, takes };
  const grounded = grounding && new GroundedSearch({ ...grounding, llmSearch, clock, logger });
  const shared = new CoalescingSearch(grounded ?? llmSearch, (request) => grounded?.isShareable(request) ?? true);
  const pageChecks = citedPages && new PageChecks({ citedPages, config });
  const answerQuery = new AnswerQuery({ llmSearch: shared, long, clock, logger, config, pageChecks });
  const isLong = ports.long !== undefined && config.longAnswers !== undefined;
  const setup = { apiProbe, answerQuery, clock, config, isLong, web: grounding?.policy.web };
  return {
    checkCounts: pageChecks?.counts,
    long: long?.answers,
    answerQuery: (input, signal) => answerQuery.execute(input, signal),
    tasks: long && answerQuery,
    diagnoseSetup: (keyProblem, signal) => diagnoseSetup(setup, keyProblem, signal),
  };
}
