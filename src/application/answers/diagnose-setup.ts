import type { Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import { profileFor } from '../../domain/answers/model-profile.ts';
import { TOOL_NAMES } from '../../domain/answers/question.ts';
import { type CallOrigin, EVERYTHING, LOCAL_CALLER } from '../../domain/gateway/call-origin.ts';
import type { GroundingPolicy } from '../../domain/grounded/grounding.ts';
import { zonedDate } from '../../domain/values/zoned-date.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Config } from '../ports/config.ts';
import type { ApiProbe, FoundModel } from '../ports/llm-search.ts';
import type { Clock, Services } from '../ports/services.ts';
import type { PagesReport } from '../tools/tool-call.ts';
import type { AnswerQuery } from './answer-query.ts';

/**
 * The outcome of one step. `detail` is the finding; `error` says why the step failed. A step that takes long is first announced as `running`,
 * with its description as `detail`.
 */
export interface Check {
  readonly name: string;
  readonly verdict: 'ok' | 'note' | 'warning' | 'failed' | 'skipped' | 'running';
  readonly detail: string;
  readonly error?: AnswerError;
}

/** Errors of a model lookup that a question would also get. */
const FATAL = new Set<AnswerError['kind'] | undefined>(['malformed_api_key', 'rejected_api_key', 'model_not_found']);

const LONG = 'long answers';
const CHECKS = 'citation checks';
/** The time before the shutdown of a model in which its check is a warning. */
const NOTICE_MS = 90 * 24 * 60 * 60 * 1000;
const PROBE_TIMEOUT_MS = 15_000;
const SEARCH_QUESTION = 'Search the web: which is the current stable release of Node.js? Answer in one line.';

interface Dependencies extends Pick<Services, 'clock'> {
  readonly apiProbe: () => Promise<ApiProbe>;
  readonly answerQuery: AnswerQuery;
  readonly config: Config;
  /** Whether questions of some tools may take minutes. */
  readonly isLong: boolean;
  /** `grounding.web`, if answers may use own tools. A grounded question is then tried, too. */
  readonly web: GroundingPolicy['web'] | undefined;
}

type QuestionCheck = 'web search' | 'grounded question';
type Finding = Pick<Check, 'verdict' | 'detail'>;

const DOCTOR: CallOrigin = { caller: LOCAL_CALLER, door: 'cli', rights: EVERYTHING };

/**
 * Tries the way to an answer step by step: the base URL, the model of each profile, a web search, a grounded question. Yields each check when
 * it is done. Without a usable key (`keyProblem` says why), only the connection is checked.
 */
export async function* diagnoseSetup(
  deps: Dependencies,
  keyProblem: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Check> {
  const { apiProbe, clock, config, isLong, web } = deps;
  const grounded: readonly QuestionCheck[] = web === undefined ? [] : ['grounded question'];
  const checksPages = config.citations.check !== 'off';
  const probe = await apiProbe();
  const reached = await withTimeout(probe, clock, signal, (signal) => probe.reach(signal));
  yield toCheck('connection', reached, () => ok(`${probe.route} can be reached`));
  const skipReason = keyProblem ?? (reached.isErr() ? 'the API cannot be reached' : undefined);
  if (skipReason !== undefined) {
    const pages = checksPages ? [CHECKS] : [];
    const long = config.longAnswers === undefined ? [] : [LONG];
    for (const name of ['models', 'web search', ...pages, ...grounded, ...long]) yield skipped(name, skipReason);
    return;
  }
  const today = zonedDate(clock.now(), config.timeZone);
  const unusable = new Set<string | undefined>();
  for (const [model, tools] of toolsByModel(config)) {
    const found = await withTimeout(probe, clock, signal, (signal) => probe.findModel(model, signal));
    const kind = found.isErr() ? found.error.kind : undefined;
    if (FATAL.has(kind)) unusable.add(model);
    const check = toCheck(`model ${model}`, found, (answer) =>
      answer === 'unknown'
        ? { verdict: 'skipped', detail: 'this server does not list its models' }
        : withShutdown(answer, tools, today),
    );
    // A key may be allowed to ask questions without being allowed to look up models.
    yield kind === 'forbidden' || kind === 'missing_permission' ? { ...check, verdict: 'warning' } : check;
  }
  const isUsable = !unusable.has(profileFor('answer_quick', config.profiles)?.model);
  for (const name of ['web search', ...grounded] as const) {
    if (isUsable) yield { name, verdict: 'running', detail: 'Searching the web' };
    const asked = isUsable ? await ask(name, deps, signal) : { check: skipped(name, 'its model cannot be used') };
    yield asked.check;
    if (checksPages && name === 'web search') yield toPagesCheck(asked);
    if (isLong && name === 'web search') yield toLongCheck(asked, config);
  }
}

/** The findings of a question. */
interface Asked {
  readonly check: Check;
  readonly checks?: PagesReport['checks'];
  /** Whether the API started a response that continues without the connection. */
  readonly isStarted?: boolean;
}

/** Whether a page of the answer could be checked. */
function toPagesCheck({ checks = [] }: Asked): Check {
  const { length } = checks;
  if (length === 0) return skipped(CHECKS, 'there was no page to check');
  const read = checks.filter(({ state }) => state === 'ok').length;
  if (read > 0) return { name: CHECKS, ...ok(`${read} of ${length} cited pages could be read`) };
  const reasons = new Set(checks.map(({ reason, status }) => reason ?? `http_${status}`));
  return { name: CHECKS, verdict: 'warning', detail: `no cited page could be read: ${[...reasons].join(', ')}` };
}

/** Whether questions can take long. */
function toLongCheck({ check: { verdict }, isStarted }: Asked, { longAnswers }: Config): Check {
  if (isStarted) return { name: LONG, ...ok(`for ${longAnswers?.tools.join(', ')}`) };
  if (verdict === 'failed' || verdict === 'skipped') return skipped(LONG, 'the web search was not answered');
  const detail =
    'the API does not accept background, or only with openai.store: true, so these questions end with their calls (long_answers.tools)';
  return { name: LONG, verdict: 'warning', detail };
}

/** The models of the profiles, each with the tools that use it. */
function toolsByModel({ profiles }: Config): ReadonlyMap<string, readonly string[]> {
  const models = new Map<string, readonly string[]>();
  for (const tool of TOOL_NAMES) {
    const model = profileFor(tool, profiles)?.model;
    if (model !== undefined) models.set(model, [...(models.get(model) ?? []), tool]);
  }
  return models;
}

/** A model that is shut down soon still works. */
function withShutdown(found: Exclude<FoundModel, 'unknown'>, tools: readonly string[], today: string): Finding {
  const detail = `for ${tools.join(', ')}`;
  if (found === 'found' || Date.parse(found.shutsDownOn) - Date.parse(today) > NOTICE_MS) return ok(detail);
  return { verdict: 'warning', detail: `${detail}; shuts down on ${found.shutsDownOn}: use another model` };
}

async function ask(
  name: QuestionCheck,
  { answerQuery, isLong, web }: Dependencies,
  signal: AbortSignal,
): Promise<Asked> {
  const isWebOnly = name === 'web search';
  let isStarted = false;
  const onStarted = (id: string | undefined) => {
    isStarted ||= id !== undefined;
  };
  const observer = { onProgress: () => {}, onStarted };
  const [ofWeb, args] = [isLong ? 'long' : 'web_only', { query: SEARCH_QUESTION }] as const;
  const asked = { by: DOCTOR, way: isWebOnly ? ofWeb : 'plain', args, observer } as const;
  const answer = await answerQuery.execute({ ...asked, tool: 'answer_quick' }, signal);
  const check = toCheck(name, answer, ({ result, report }) => {
    const { length } = result.citations;
    const seconds = `${report.seconds.toFixed(1)} s`;
    if (isWebOnly && result.used_search)
      return ok(`answered with ${length} source${length === 1 ? '' : 's'} in ${seconds}`);
    if (isWebOnly) {
      const detail =
        'this server did not search: the model of answer_quick, or the server, may not support web_search (search.tool)';
      return { verdict: 'warning', detail };
    }
    if (report.rounds === undefined)
      return { verdict: 'warning', detail: 'answered, but no own tool could be offered' };
    const ending = web === 'never' ? '; the web is never searched (grounding.web)' : '';
    return ok(`answered with own tools offered in ${seconds}${ending}`);
  });
  return { check, checks: answer.map(({ report }) => report.checks).unwrapOr(undefined), isStarted };
}

async function withTimeout<T>(
  { route }: ApiProbe,
  clock: Clock,
  signal: AbortSignal,
  probe: (signal: AbortSignal) => Promise<Result<T, SearchError>>,
): Promise<Result<T, AnswerError>> {
  const { outcome } = await withDeadline(clock, PROBE_TIMEOUT_MS, signal, probe);
  return outcome.mapErr((error): AnswerError => {
    if (error.kind !== 'aborted') return error;
    if (signal.aborted) return { kind: 'cancelled' };
    const detail = `no response within ${PROBE_TIMEOUT_MS / 1000} s`;
    return { kind: 'connection_failed', attempts: 1, host: route, detail };
  });
}

function ok(detail: string): Finding {
  return { verdict: 'ok', detail };
}

function skipped(name: string, detail: string): Check {
  return { name, verdict: 'skipped', detail };
}

function toCheck<T>(name: string, outcome: Result<T, AnswerError>, describe: (value: T) => Finding): Check {
  return outcome.isOk()
    ? { name, ...describe(outcome.value) }
    : { name, verdict: 'failed', detail: outcome.error.kind, error: outcome.error };
}
