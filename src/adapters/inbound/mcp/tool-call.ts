import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { languageOf } from '../../../domain/language.ts';
import type { ToolName } from '../../../domain/tool-name.ts';
import { type Era, stamp } from './era.ts';
import {
  errorMessage,
  INTERNAL,
  isParams,
  type OutgoingMessage,
  type Params,
  type RequestId,
  resultMessage,
} from './json-rpc.ts';
import type { McpSessionOptions, Send } from './mcp-session.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { toErrorObject, toErrorResult, toToolResult } from './tool-result.ts';

/** A call of one of our tools, as the session read it. */
export interface ToolCall {
  readonly id: RequestId;
  readonly era: Era;
  readonly requestKey: string;
  readonly tool: ToolName;
  readonly args: Params;
  /** The request's parameters, with its `_meta`. */
  readonly params: Params;
}

/** How long the answer stays behind what was told right before it: a busy client needs so long to read that alone. */
const LINGER_MS = 25;

const UNOBSERVED: SearchObserver = { onProgress: () => {} };

/** Answers a call: its progress, where that was asked for, then its result; nothing once `signal` has aborted. */
export async function runToolCall(
  call: ToolCall,
  options: McpSessionOptions,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const reporter = reporterFor(call, options, send);
  const answer = await ask(call, options, reporter ?? UNOBSERVED, signal);
  if (answer === undefined) {
    reporter?.stop();
  } else {
    const wasTold = reporter?.finish() === true;
    // Clients drop progress that they read in one piece with the answer.
    if (wasTold) await options.clock.sleep(LINGER_MS, signal);
    send(answer);
  }
}

/** Progress is told only to a client that asked for it; `0` is a token like any other (ruling 18). */
function reporterFor(
  { params, args }: ToolCall,
  { clock }: McpSessionOptions,
  send: Send,
): ProgressReporter | undefined {
  const token = isParams(params._meta) ? params._meta.progressToken : undefined;
  const isToken = typeof token === 'string' || (typeof token === 'number' && Number.isFinite(token));
  const language = languageOf(typeof args.query === 'string' ? args.query : '');
  return isToken ? new ProgressReporter({ token, language, clock, send }) : undefined;
}

/** The answer to a call; undefined if it is owed none. */
async function ask(
  { id, era, requestKey, tool, args }: ToolCall,
  options: McpSessionOptions,
  observer: SearchObserver,
  signal: AbortSignal,
): Promise<OutgoingMessage | undefined> {
  const { application, logger, caller, serverInfo } = options;
  try {
    const answer = await application.answerQuery({ requestKey, caller, tool, args, observer }, signal);
    if (answer.isOk()) return resultMessage(id, stamp(toToolResult(answer.value), era, serverInfo));
    return answer.error.kind === 'cancelled' ? undefined : failure(id, era, answer.error, options);
  } catch (bug) {
    logger.error(`a fault of this program, in tools/call: ${String(bug)}`);
    if (bug instanceof Error) logger.debug(bug.stack ?? '');
    return errorMessage(id, INTERNAL);
  }
}

function failure(id: RequestId, era: Era, error: AnswerError, options: McpSessionOptions): OutgoingMessage {
  const { logger, redactor, toolErrors, serverInfo } = options;
  return era === 'modern' || toolErrors === 'result'
    ? resultMessage(id, stamp(toErrorResult(error, redactor.inLogs), era, serverInfo))
    : errorMessage(id, toErrorObject(error, logger.isDebug, redactor.inLogs));
}
