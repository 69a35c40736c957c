import type { Result } from 'neverthrow';
import { ANSWER_ERRORS, type AnswerError, type SearchError } from '../../domain/answers/answer-error.ts';
import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { PageCheck } from '../../domain/answers/citation.ts';
import type { Cost } from '../../domain/answers/prices.ts';
import type { CallOrigin, Rights } from '../../domain/gateway/call-origin.ts';
import type { Asker, Retry } from '../../domain/gateway/elicitation.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { TOOL_ERRORS, type ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { Pause } from '../async/deadline.ts';
import type { SearchProgress, SearchReport, SearchUse } from '../ports/llm-search.ts';
import type { ToolProgress } from '../ports/tool-server.ts';
import type { AuditLine } from './audit.ts';
import type { CallElicitations } from './call-elicitations.ts';

/** A call as an entry point of the program asks for it. */
export interface ToolCall {
  /** The server; empty if the name of the tool over MCP names none. */
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly by: CallOrigin;
  /** Whether the call is sent only if the tool is read-only. */
  readonly onlyReads?: boolean | undefined;
  /** Shortens the time limit; never extends it. */
  readonly timeoutMs?: number | undefined;
  /** Whether the time limit begins when the server has started, because a person sees that it starts. */
  readonly waitsForStart?: boolean | undefined;
  /** Whether the answer may have any length, because a person reads it. */
  readonly isUnlimited?: boolean | undefined;
  /** Whether a server is asked for progress. */
  readonly wantsProgress?: boolean | undefined;
  /** The name of the tool over MCP, if it may end with a hash: only the lists of started servers say which tool it means. */
  readonly exposedName?: string | undefined;
  /** Asks the person who called what the server wants to know. Absent if nobody can be asked. */
  readonly asker?: Asker | undefined;
  /** The answers of a caller who has read the question of a server of MCP 2026-07-28. */
  readonly retry?: Retry | undefined;
  /** Gets the events of the call. Must not throw. */
  readonly on?: ((event: CallEvent) => void) | undefined;
}

/** A call on its way to a provider. */
export interface ObservedCall extends ToolCall {
  readonly on: (event: CallEvent) => void;
  /** The line in the audit; undefined without an audit. */
  readonly line?: AuditLine | undefined;
  readonly elicitations: CallElicitations;
  /** Stops the time limit of the call. */
  readonly pause: Pause;
}

/** What happens during a call, in this order. Readers ignore the kinds that do not concern them, so that another kind is added only here. */
export type CallEvent =
  | Kind<'begun', { server: string }>
  /** The server has to be started first. */
  | Kind<'starting'>
  /** The caller may use the tool. */
  | Kind<'found', { tool: GatewayTool }>
  /** The call is sent to its server. */
  | Kind<'sent'>
  /** Progress that the tool reports. */
  | Kind<'progress', { progress: ToolProgress }>
  /** Progress of an answer, which may wait for a place at the API. */
  | Kind<'searching', { progress: SearchProgress }>
  | Kind<'used', { use: SearchUse }>
  /** The call waits, because a question to another caller is open at the server. */
  | Kind<'waiting'>
  /** The caller has got a question as the result, and may go on with another request. */
  | Kind<'asked', { server: string; tool: string }>
  | Kind<'ended', { report: CallReport }>;

/** The result of a tool. An answer tool's result also has the answer. */
export interface ToolReturn extends ToolResult {
  readonly answer?: Answer;
  /** The result is a question of the server, which the caller reads and answers by a retry. */
  readonly isQuestion?: true;
}

export type ToolError = ToolCallError | Kind<'answer_failed', { error: AnswerError }>;

export type ToolOutcome = Result<ToolReturn, ToolError>;

/** `asked`: the caller has got a question, and may answer by a retry; `tool_error`: a result with `isError`; `unfinished`: an answer whose search continues. */
type OutcomeName =
  | 'answered'
  | 'asked'
  | 'tool_error'
  | 'unfinished'
  | 'internal_error'
  | ToolCallError['kind']
  | AnswerError['kind'];

/** A finished call, without its texts. Names that do not exist for the caller are empty. Use that another call accounts for is not counted. */
export interface CallReport extends SearchUse {
  readonly server: string;
  readonly tool: string;
  /** `internal_error`: an exception, which is a bug. */
  readonly outcome: OutcomeName;
  readonly seconds: number;
  /** Whether access refused the tool or the server. */
  readonly isDenied?: true;
}

export function outcomeOf(outcome: ToolOutcome): OutcomeName {
  if (outcome.isErr()) return outcome.error.kind === 'answer_failed' ? outcome.error.error.kind : outcome.error.kind;
  const { answer, isError, isQuestion } = outcome.value;
  if (isQuestion) return 'asked';
  return answer?.report.state === 'unfinished' ? 'unfinished' : isError ? 'tool_error' : 'answered';
}

const ERRORS: Readonly<Partial<Record<OutcomeName, { readonly isMade: boolean }>>> = {
  ...ANSWER_ERRORS,
  ...TOOL_ERRORS,
};

/** Whether a call with this outcome may have reached the API or a server: it counts for quotas, and a repetition may have effects twice. */
export function isMade(outcome: OutcomeName): boolean {
  return ERRORS[outcome]?.isMade ?? true;
}

/** Whether access refused the tool or the server. */
export function isDenied(outcome: ToolOutcome): boolean {
  return outcome.isErr() && 'isDenied' in outcome.error && outcome.error.isDenied === true;
}

/** The tool that a call names; undefined if there is none. `problem`: why the tool cannot be called now, or is not known. */
export interface FoundTool {
  readonly tool?: GatewayTool | undefined;
  readonly problem?: ToolCallError | undefined;
}

/** Offers tools. It checks no rights: the catalogue calls it only for callers who may use the tool. */
export interface ToolProvider {
  /** The servers of its tools: configured servers, or `BUILT_IN_SERVER` for tools of the program itself. */
  readonly serverNames: readonly string[];
  /** The tools that exist now, as callers with these rights see them. */
  toolsFor(rights: Rights): readonly GatewayTool[];
  /** Whether the tools of a server are known. Absent if they always are. */
  isOffered?(server: string): boolean;
  /** The time limit of a call in milliseconds, if its caller allows `wantedMs`. */
  limitMs(server: string, wantedMs: number): number;
  /** Waits for lists that are not known yet, such as the tools of a server that is starting. */
  find(call: ToolCall, signal: AbortSignal): FoundTool | Promise<FoundTool>;
  /** Calls a tool that was found, by its own name. Ends with `cancelled` soon after `signal` aborts; rejects only because of a bug. */
  call(call: ObservedCall, signal: AbortSignal): Promise<ToolOutcome>;
}

/** `page`: the page says when it was published; `resource`: the last change of an own source; `access`: the day of the answer. */
export type DateOrigin = 'page' | 'resource' | 'access';

/** Findings about the cited pages: the origin of their dates, and the states of the pages that were requested. */
export interface PagesReport {
  readonly dates?: readonly { readonly url: string; readonly origin: DateOrigin }[] | undefined;
  readonly checks?: readonly (PageCheck & { readonly url: string })[] | undefined;
}

/** An answer, and what it took to produce it. */
export interface Answer {
  readonly result: AnswerResult;
  /** `cost`: what this call pays, if it is known. */
  readonly report: SearchReport & PagesReport & { readonly seconds: number; readonly cost?: Cost };
}

export function toAnswerError(error: SearchError): AnswerError {
  return error.kind === 'aborted' ? { kind: 'cancelled' } : error;
}
