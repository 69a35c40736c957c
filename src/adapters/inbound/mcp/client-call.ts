import type { Services } from '../../../application/ports/services.ts';
import type { AskedStep, OpenCall } from '../../../application/tools/open-call.ts';
import type { OpenCalls } from '../../../application/tools/open-calls.ts';
import type { Answer, CallEvent, ToolCall, ToolOutcome } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { type AnswerError, isWrongCall } from '../../../domain/answers/answer-error.ts';
import { languageOf } from '../../../domain/answers/question.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { type InputRequired, parseAnswer, type Retry } from '../../../domain/gateway/elicitation.ts';
import { namedRequest } from '../../../domain/gateway/input-requests.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { toServedResult } from '../../../domain/gateway/served-result.ts';
import type { ToolCallError } from '../../../domain/gateway/tool-call-error.ts';
import { type Redactor, redactedValue } from '../../../domain/values/redaction.ts';
import { toReportJson } from '../report-json.ts';
import { messageFor } from '../words/error-messages.ts';
import { toolErrorMessage, toolErrorText } from '../words/tool-error-messages.ts';
import { type Era, failureForm, META_PREFIX } from './era.ts';
import {
  type ErrorObject,
  failedAnswer,
  failedResult,
  INTERNAL,
  INVALID_PARAMS,
  invalidParams,
  isRequestId,
  METHOD_NOT_FOUND,
  type Params,
} from './json-rpc.ts';
import { CallProgress } from './progress-reporter.ts';
import { type ClientCall, PROGRESS_FLUSH_MS, type Reply, type Send, type ToolReply } from './tool-set.ts';

export interface ClientCallOptions extends Services {
  readonly catalogue: Pick<ToolCatalogue, 'call'>;
  /** The calls of clients that get questions as results. */
  readonly openCalls?: OpenCalls | undefined;
  /** Whether a failed call is a JSON-RPC error, or a result with `isError`, in the legacy era. */
  readonly toolErrors: 'protocol' | 'result';
  /** How a client can start the program, if it may know that. */
  readonly ownCommand?: OwnCommand | undefined;
}

type Named = Pick<ToolCall, 'server' | 'tool' | 'onlyReads' | 'exposedName'>;

/** Calls the tool that a client named, with its progress, and presents the outcome. */
export async function callForClient(
  named: Named,
  { call, notify }: { readonly call: ClientCall; readonly notify: Send },
  options: ClientCallOptions,
  signal: AbortSignal,
): Promise<ToolReply> {
  const { clock } = options;
  const { args, by, on, asker } = call;
  const progress = progressOf(call, named.server, options, notify);
  const onBoth = (event: CallEvent) => {
    progress?.on(event);
    on?.(event);
  };
  try {
    const { retry } = call.repeatable ?? {};
    const asked = { ...named, args, by, asker, retry, wantsProgress: progress !== undefined, on: onBoth };
    const outcome = await (replyWithQuestions(asked, call, options, signal) ?? options.catalogue.call(asked, signal));
    const reply =
      'elicitation' in outcome ? { result: toQuestion(outcome) } : toReply(outcome, named.server, call, options);
    if (progress === undefined) return reply;
    if (reply !== 'cancelled') progress.finish();
    const flushMs = progress.sentMs + PROGRESS_FLUSH_MS - clock.elapsedMs();
    if (flushMs > 0) await clock.sleep(flushMs, signal);
    return reply;
  } finally {
    progress?.stop();
  }
}

/** The reply to a client that gets questions as results, or to its request that continues a call. Undefined for any other client. */
function replyWithQuestions(
  asked: ToolCall & { readonly on: (event: CallEvent) => void },
  { repeatable, declared = {} }: ClientCall,
  { catalogue, openCalls }: ClientCallOptions,
  signal: AbortSignal,
): Promise<ToolOutcome | AskedStep> | undefined {
  if (openCalls === undefined || repeatable === undefined) return undefined;
  const { identity, retry, open } = repeatable;
  if (open === undefined && Object.keys(declared).length === 0) return undefined;
  if (open !== undefined && retry?.requestState !== undefined) answerQuestion(open, retry.requestState, retry);
  const begin = () =>
    openCalls.begin(identity(), declared, (more, untilOver) => catalogue.call({ ...asked, ...more }, untilOver));
  const follow = async () => {
    const step = await (open ?? begin()).step(asked.on, signal);
    if ('elicitation' in step) {
      asked.on({ kind: 'asked', server: step.elicitation.server, tool: step.tool });
      return step;
    }
    const { outcome } = step;
    const passed = outcome.isOk() && outcome.value.isQuestion ? outcome.value.raw.requestState : undefined;
    if (typeof passed === 'string') openCalls.onPassed(passed, identity(), retry?.answered ?? []);
    return outcome;
  };
  return follow();
}

/** A missing or malformed answer is asked again. */
function answerQuestion(open: OpenCall, state: string, retry: Retry): void {
  const answer = parseAnswer(retry.inputResponses?.[QUESTION_KEY]);
  if (answer === undefined) open.askAgain(state);
  else open.answer(state, answer);
}

const QUESTION_KEY = 'question';

/** The result that asks a client of MCP 2026-07-28, in which a URL has no ID. */
function toQuestion({ state, elicitation }: AskedStep): Params {
  const { elicitationId: _, ...params } = elicitation.params;
  const inputRequests = { [QUESTION_KEY]: namedRequest({ ...elicitation, params }) };
  return { resultType: 'input_required', inputRequests, requestState: state };
}

/** Undefined unless the client asks for progress. `0` is a valid token. */
function progressOf({ meta, args }: ClientCall, server: string, options: ClientCallOptions, notify: Send) {
  const { progressToken: token } = meta;
  if (!isRequestId(token)) return undefined;
  const { clock, redactor } = options;
  const language = languageOf(typeof args.query === 'string' ? args.query : '');
  return new CallProgress({ token, server, language, clock, redactor, notify });
}

function toReply(outcome: ToolOutcome, server: string, { era }: ClientCall, options: ClientCallOptions): ToolReply {
  if (outcome.isOk()) {
    const { answer, raw, isQuestion } = outcome.value;
    if (answer !== undefined) return { result: toToolResult(raw, answer) };
    if (isQuestion) return { result: raw };
    const { resultType: _, ...result } = raw;
    return { result: toServedResult(result, { onlyObjects: era === 'legacy' }) };
  }
  const { error } = outcome;
  if (error.kind === 'answer_failed') return toFailedReply(error.error, era, options);
  if ((error.kind === 'audit_unavailable' || error.kind === 'unrecorded') && server === BUILT_IN_SERVER)
    return toFailedReply({ kind: error.kind }, era, options);
  return toErrorReply(error, options);
}

/** A JSON-RPC error of the server is passed on; any other failure is a result, which a model can read. */
function toErrorReply(error: ToolCallError, { redactor, ownCommand }: ClientCallOptions): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  const isGone = error.kind === 'unknown_tool' && error.isGone === true;
  if (!isGone && (error.kind === 'unknown_tool' || error.kind === 'unknown_server')) return 'unknown_tool';
  if (error.kind === 'json_rpc') return { error: toServerError(error, redactor.inLogs) };
  if (error.kind === 'no_open_question') return { error: invalidParams(toolErrorMessage(error)) };
  if (error.kind === 'input_required') return { result: toUnanswered(error, redactor.inLogs(toolErrorText(error))) };
  return { result: failedResult(redactor.inLogs(toolErrorText(error, ownCommand))) };
}

/** The result of a call whose question nobody answered, with what the tool returned without an answer. */
function toUnanswered({ result }: InputRequired, text: string): Params {
  const returned = Array.isArray(result?.content) ? result.content : [];
  return { content: [{ type: 'text', text }, ...returned], isError: true };
}

/** Codes that clients would relate to this server: unknown method; headers, capabilities, version; URLs to visit, which named none. */
const OUR_CODES: ReadonlySet<number> = new Set([METHOD_NOT_FOUND, -32020, -32021, -32022, -32042]);

/** Converts an error of a server to an error for clients. */
export function toServerError(
  { code, message, data }: Extract<ToolCallError, { readonly kind: 'json_rpc' }>,
  redact: Redactor['inLogs'],
): ErrorObject {
  const error = { code: OUR_CODES.has(code) ? INTERNAL.code : code, message, data: data as Params | undefined };
  return redactedValue(error, redact);
}

/** The reply to a call that failed. */
export function toFailedReply(
  error: AnswerError,
  era: Era,
  { toolErrors, logger, redactor }: Pick<ClientCallOptions, 'toolErrors' | 'logger' | 'redactor'>,
): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  const message = redactor.inLogs(messageFor(error));
  const form = failureForm(era, toolErrors);
  return form === 'result' ? failedAnswer(message, form) : toProtocolError(error, message, logger.isDebug);
}

/** The contract's JSON as text and as structured content (`raw`); `_meta` contains the report. */
export function toToolResult(raw: Params, { report }: Answer): Params {
  return { ...raw, _meta: { [`${META_PREFIX}report`]: toReportJson(report) } };
}

/** The error for a failed call. With `isDebug`, `data` contains the details that the API reported. */
function toProtocolError(error: AnswerError, message: string, isDebug: boolean): Reply {
  if (isWrongCall(error)) {
    // Many clients show their models nothing but `message`.
    return { error: { code: INVALID_PARAMS, message: `Invalid params: ${message}`, data: { message } } };
  }
  const diagnostics = isDebug && 'diagnostics' in error ? error.diagnostics : undefined;
  return failedAnswer(message, 'protocol', diagnostics);
}
