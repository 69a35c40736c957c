import type { Result } from 'neverthrow';
import type { AnswerError } from '../../domain/answers/answer-error.ts';
import type { Audit } from '../audit/audit.ts';
import { GroundedSearch, type GroundedSearchOptions } from '../grounded/grounded-search.ts';
import type { ApiProbe } from '../ports/api-probe.ts';
import type { CitedPages } from '../ports/cited-pages.ts';
import type { Config } from '../ports/config.ts';
import type { SearchRequest } from '../ports/llm-search.ts';
import { type Answer, toEnding } from './answer.ts';
import { AnswerQuery, type AnswerQueryDependencies, type AnswerQueryInput } from './answer-query.ts';
import { CoalescingSearch } from './coalescing-search.ts';
import { type Check, diagnoseSetup } from './diagnose-setup.ts';
import type { LongSearches } from './long-searches.ts';
import { PageChecks } from './page-checks.ts';

/** The use cases, as drivers (MCP, HTTP, the command line) call them. */
export interface Application {
  answerQuery(input: AnswerQueryInput, signal: AbortSignal): Promise<Result<Answer, AnswerError>>;
  /** The cited pages that were checked, by state; absent if pages are not read. */
  readonly checkCounts?: PageChecks['counts'] | undefined;
  /** Absent if no tool gives answers that take minutes. */
  readonly long?: LongSearches | undefined;
  /** Of answers that take minutes, for clients that ask what becomes of them. */
  readonly tasks?: Pick<AnswerQuery, 'taskStatus' | 'cancelTask'> | undefined;
  /** Checks each step on the way to an answer. `keyProblem` says why there is no usable API key, if there is none. */
  diagnoseSetup(keyProblem: string | undefined, signal: AbortSignal): AsyncGenerator<Check>;
}

/** What the core needs from the outside. */
interface Ports extends Pick<AnswerQueryDependencies, 'llmSearch' | 'long' | 'clock' | 'logger'> {
  /** Created when first needed. */
  readonly apiProbe: () => Promise<ApiProbe>;
  /** Absent if cited pages are not to be read. */
  readonly citedPages?: CitedPages | undefined;
  readonly audit?: Audit | undefined;
}

/** What grounded answers need; absent if they are not configured. */
export type Grounding = Omit<GroundedSearchOptions, 'llmSearch' | 'clock' | 'logger'>;

/** Composes the core; production, tests and every driver use this function. */
export function createApplication(ports: Ports, config: Config, grounding?: Grounding): Application {
  const { llmSearch, clock, logger, citedPages, audit, long } = ports;
  const isLong = (request: SearchRequest) =>
    config.longAnswers?.tools.includes(request.question.tool) === true && grounded?.mayUseTools(request) !== true;
  const grounded = grounding && new GroundedSearch({ ...grounding, llmSearch, clock, logger });
  const shared = new CoalescingSearch(grounded ?? llmSearch, (request) => grounded?.isShareable(request) ?? true);
  const pageChecks = citedPages && new PageChecks(citedPages, config);
  const answerQuery = new AnswerQuery({ llmSearch: shared, long, isLong, clock, logger, config, pageChecks });
  const hasLong = long !== undefined && config.longAnswers !== undefined;
  const setup = { ...ports, answerQuery, config, isLong: hasLong, web: grounding?.policy.web };
  return {
    checkCounts: pageChecks?.counts,
    long: long?.searches,
    answerQuery: (input, signal) =>
      audit === undefined
        ? answerQuery.execute(input, signal)
        : audit.record(
            input,
            // The calls of the model name the line of its answer (ruling T10).
            (call, id) => answerQuery.execute({ ...call, by: { ...call.by, answer: id } }, signal),
            (answer) => toEnding(answer, input.takesTask),
          ),
    tasks: long && answerQuery,
    diagnoseSetup: (keyProblem, signal) => diagnoseSetup(setup, keyProblem, signal),
  };
}
