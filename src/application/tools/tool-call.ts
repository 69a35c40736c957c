import type { Result } from 'neverthrow';
import { ANSWER_ERRORS, type AnswerError } from '../../domain/answers/answer-error.ts';
import type { CallOrigin } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { TOOL_ERRORS, type ToolCallError } from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { SearchProgress, SearchUse } from '../ports/llm-search.ts';
import type { ToolProgress } from '../ports/tool-server.ts';
import type { Answer } from './answer.ts';
import type { AuditLine } from './audit.ts';

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
  /** Whether the answer may have any length, because a person reads it. */
  readonly isUnlimited?: boolean | undefined;
  /** Gets the progress. Without it, a server is not asked for progress. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Called if the server has to be started first. */
  readonly onStarting?: (() => void) | undefined;
  /** Called when the call is sent to its server. */
  readonly onSent?: (() => void) | undefined;
  readonly onSearchProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Finds the name of the tool, if it is known only after the start of the server; undefined if the name is `tool`. */
  readonly nameWhenStarted?: (() => string | undefined) | undefined;
  readonly observer?: CallObserver | undefined;
}

/** A call on its way to a provider. */
export interface ObservedCall extends ToolCall {
  /** The line in the audit; undefined without an audit. */
  readonly line?: AuditLine | undefined;
  readonly onFound?: ((tool: GatewayTool) => void) | undefined;
  readonly onUsed?: ((use: SearchUse) => void) | undefined;
}

/** The result of a tool. An answer tool's result also has the answer. */
export interface ToolReturn extends ToolResult {
  readonly answer?: Answer;
}

export type ToolError = ToolCallError | Kind<'answer_failed', { error: AnswerError }>;

export type ToolOutcome = Result<ToolReturn, ToolError>;

export type CallTool = (call: ObservedCall, signal: AbortSignal) => Promise<ToolOutcome>;

/** `tool_error`: a result with `isError`; `unfinished`: an answer whose search continues. */
type OutcomeName =
  | 'answered'
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

/** Observes the calls of tools, for metrics and logs. */
export interface CallObserver {
  onStarted?(server: string): void;
  /** The call starts or stops waiting for a place at the API. */
  onWaiting?(isWaiting: boolean): void;
  onEnded(report: CallReport): void;
}

export function outcomeOf(outcome: ToolOutcome): OutcomeName {
  if (outcome.isErr()) return outcome.error.kind === 'answer_failed' ? outcome.error.error.kind : outcome.error.kind;
  const { answer, isError } = outcome.value;
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
