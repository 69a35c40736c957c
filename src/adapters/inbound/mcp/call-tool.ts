import type { Clock } from '../../../application/ports/clock.ts';
import type { ToolProgress } from '../../../application/ports/tool-server.ts';
import type { ToolCall as NamedCall, ToolOutcome } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import type { ToolCallError } from '../../../domain/gateway/tool-call-error.ts';
import { type Redactor, redactedValue } from '../../../domain/values/redaction.ts';
import { starting, toolErrorText } from '../words/tool-error-messages.ts';
import { createReporter, type PresentationOptions, toFailedReply, toToolResult } from './answer-presentation.ts';
import { type ErrorObject, failedResult, INTERNAL, isRequestId, METHOD_NOT_FOUND, type Params } from './json-rpc.ts';
import { PROGRESS_FLUSH_MS, type Send, type ToolCall, type ToolReply } from './tool-set.ts';

export interface CallOptions extends PresentationOptions {
  readonly catalogue: Pick<ToolCatalogue, 'call'>;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** How a client can start the program, if it may know that. */
  readonly ownCommand?: OwnCommand | undefined;
}

type Named = Pick<NamedCall, 'server' | 'tool' | 'onlyReads' | 'nameWhenStarted'>;

/** Calls the tool that a client named, with its progress, and presents the outcome. */
export async function callTool(
  named: Named,
  call: ToolCall,
  options: CallOptions,
  notify: Send,
  signal: AbortSignal,
): Promise<ToolReply> {
  const { catalogue, clock, redactor } = options;
  const { args, by, meta, observer } = call;
  const { progressToken } = meta;
  const reporter = createReporter(call, clock, notify);
  let progressMs = Number.NEGATIVE_INFINITY;
  let hasBegun = false;
  const report = ({ message, ...progress }: ToolProgress) => {
    // MCP requires that progress increases, and it began with 0.
    if (hasBegun && progress.progress <= 0) return;
    progressMs = clock.elapsedMs();
    const params = { ...progress, message: message && redactor.inLogs(message), progressToken };
    notify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  };
  const onProgress = isRequestId(progressToken) ? report : undefined;
  const onStarting =
    onProgress &&
    (() => {
      onProgress({ progress: 0, message: starting(named.server) });
      hasBegun = true;
    });
  const onSearchProgress = reporter?.onProgress.bind(reporter);
  try {
    const outcome = await catalogue.call(
      { ...named, args, by, observer, onProgress, onStarting, onSearchProgress },
      signal,
    );
    const reply = toReply(outcome, named.server, call, options);
    if (reply !== 'cancelled' && reporter?.finish()) progressMs = clock.elapsedMs();
    const flushMs = progressMs + PROGRESS_FLUSH_MS - clock.elapsedMs();
    if (flushMs > 0) await clock.sleep(flushMs, signal);
    return reply;
  } finally {
    reporter?.stop();
  }
}

function toReply(outcome: ToolOutcome, server: string, { era }: ToolCall, options: CallOptions): ToolReply {
  if (outcome.isOk()) {
    const { answer, raw } = outcome.value;
    if (answer !== undefined) return { result: toToolResult(answer) };
    const { resultType: _, ...result } = raw;
    return { result };
  }
  const { error } = outcome;
  if (error.kind === 'answer_failed') return toFailedReply(error.error, era, options);
  if ((error.kind === 'audit_unavailable' || error.kind === 'unrecorded') && server === BUILT_IN_SERVER)
    return toFailedReply({ kind: error.kind }, era, options);
  return toErrorReply(error, options);
}

/** A JSON-RPC error of the server is passed on; any other failure is a result, which a model can read. */
function toErrorReply(error: ToolCallError, { redactor, ownCommand }: CallOptions): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  const isGone = error.kind === 'unknown_tool' && error.isGone === true;
  if (!isGone && (error.kind === 'unknown_tool' || error.kind === 'unknown_server')) return 'unknown_tool';
  if (error.kind === 'json_rpc') return { error: toServerError(error, redactor.inLogs) };
  return { result: failedResult(redactor.inLogs(toolErrorText(error, ownCommand))) };
}

/** Codes that clients would relate to this server, and that have an HTTP status: unknown method; headers, capabilities, version. */
const OUR_CODES: ReadonlySet<number> = new Set([METHOD_NOT_FOUND, -32020, -32021, -32022]);

/** Converts an error of a server to an error for clients. */
export function toServerError(
  { code, message, data }: Extract<ToolCallError, { readonly kind: 'json_rpc' }>,
  redact: Redactor['inLogs'],
): ErrorObject {
  const error = { code: OUR_CODES.has(code) ? INTERNAL.code : code, message, data: data as Params | undefined };
  return redactedValue(error, redact);
}
