import { err, ok, type Result } from 'neverthrow';
import { parseTool } from '../../../domain/gateway/listed-tool.ts';
import { toBlocks } from '../../../domain/gateway/tool-result.ts';
import { cleanText } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import type { Failure } from '../failure-json.ts';
import { RUNNING } from '../words/server-messages.ts';
import { type CallInput, isTyped, toArguments } from './call-input.ts';
import { type PrintOptions, printResult } from './call-result.ts';
import { findTool, refuseInput } from './call-tool.ts';
import { reportFailure } from './failure.ts';
import { openLine } from './terminal.ts';

interface RunningReply {
  readonly status: number;
  /** Undefined if it is no JSON object. */
  readonly body: JsonObject | undefined;
}

/** A gateway that another process runs. */
export interface RunningGateway {
  readonly url: string;
  /** Sends a request to a path, a POST if there is a body. The error is the reason why there is no response. */
  request(path: string, body: JsonObject | undefined, signal: AbortSignal): Promise<Result<RunningReply, string>>;
}

export interface CallRunningOptions extends PrintOptions {
  readonly running: RunningGateway;
  readonly server: string;
  readonly tool: string;
  readonly input: CallInput;
  /** Shortens the time limit of the server. */
  readonly timeoutMs: number | undefined;
  /** The variable in which the token of the gateway is expected. */
  readonly tokenVariable: string;
}

/** Calls one tool of a running gateway, prints its result and returns the exit code. `signal` aborts on Ctrl-C. */
export async function callRunning(options: CallRunningOptions, signal: AbortSignal): Promise<number> {
  const { server, timeoutMs } = options;
  const line = openLine(options, `${server}/${options.tool}`);
  const found = await findRemoteTool(options, signal);
  if (found.isErr()) {
    line?.end();
    return reportRefusal(found.error, options);
  }
  const { name: tool, inputSchema } = found.value;
  const input = toArguments(options.input, inputSchema);
  if (input.isErr()) {
    line?.end();
    return refuseInput(input.error, options);
  }
  const body = { server, toolName: tool, input: input.value, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
  const called = await send('/mcp/call', body, options, signal);
  line?.end();
  if (called.isErr()) return reportRefusal(called.error, options);
  const { result, content } = called.value;
  const isText = typeof result === 'string';
  const shown = {
    content: content === undefined && isText ? toBlocks(result) : toBlocks(content),
    structured: isText ? undefined : (result ?? undefined),
  };
  return (await printResult(shown, called.value, { ...options, tool })) ? SUCCEEDED : FAILED;
}

/** The tool, whose schema decides the types of members. */
async function findRemoteTool({ input, ...options }: CallRunningOptions, signal: AbortSignal) {
  const { server, tool } = options;
  if (!isTyped(input)) return ok(findTool([], options));
  const listed = await send(`/mcp/tools?server=${encodeURIComponent(server)}`, undefined, options, signal);
  return listed.map(({ tools }) => {
    const known = Array.isArray(tools) ? tools.flatMap((one) => parseTool(server, one) ?? []) : [];
    return findTool(known, { server, tool });
  });
}

/** The body of a response that reports success; otherwise why there is none. */
async function send(
  path: string,
  sent: JsonObject | undefined,
  { running, tokenVariable }: Pick<CallRunningOptions, 'running' | 'tokenVariable'>,
  signal: AbortSignal,
): Promise<Result<JsonObject, Failure>> {
  const { url } = running;
  const replied = await running.request(path, sent, signal);
  if (signal.aborted) return err({ code: 'CANCELLED', message: RUNNING.cancelled });
  if (replied.isErr()) return err({ code: 'GATEWAY_NOT_REACHED', message: RUNNING.notReached(url, replied.error) });
  const { status, body } = replied.value;
  if (body?.success === true) return ok(body);
  const failure = toFailure(body) ?? { code: 'INVALID_RESPONSE', message: RUNNING.other(url, status) };
  return err(status === 401 ? { ...failure, message: `${failure.message} ${RUNNING.token(tokenVariable)}` } : failure);
}

/** The failure in a body; undefined if it has none. */
function toFailure(body: JsonObject | undefined): Failure | undefined {
  if (!isObject(body?.error)) return undefined;
  const { success: _, error, ...returned } = body;
  const { code, message } = error;
  const { requestId: __, ...details } = isObject(error.details) ? error.details : {};
  const failure = { code: String(code), message: String(message), details };
  return Object.keys(returned).length === 0 ? failure : { ...failure, returned };
}

function reportRefusal(failure: Failure, options: CallRunningOptions): number {
  reportFailure(options, failure, cleanText(failure.message).trim());
  if (failure.code === 'CANCELLED') return INTERRUPTED;
  return failure.code === 'SERVER_NOT_FOUND' ? BAD_USAGE : FAILED;
}
