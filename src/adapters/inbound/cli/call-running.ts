import { err, ok, type Result } from 'neverthrow';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { parseTool } from '../../../domain/gateway/listed-tool.ts';
import { INSTALLED, quoted } from '../../../domain/gateway/own-command.ts';
import type { LeftOut } from '../../../domain/gateway/shared-entries.ts';
import { toBlocks } from '../../../domain/gateway/tool-result.ts';
import { cleanLine, cleanText } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import type { Failure } from '../failure-json.ts';
import { RUNNING } from '../words/server-messages.ts';
import { onlyCallMessage } from '../words/tool-error-messages.ts';
import { type CallInput, isTyped, toArguments } from './call-input.ts';
import { type PrintOptions, printResult } from './call-result.ts';
import { findTool, refuseInput } from './call-tool.ts';
import { type CommandContext, type FailureOptions, openLine, reportFailure } from './terminal.ts';
import { listTools, type ShownServer } from './tools.ts';

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

/** The variable of the token without `--token-env`. */
export const DEFAULT_TOKEN = 'MCP_HTTP_TOKEN';

export interface RunningOptions {
  readonly running: RunningGateway;
  /** The variable in which the token of the gateway is expected. */
  readonly tokenVariable: string;
}

interface CallRunningOptions extends PrintOptions, RunningOptions {
  readonly server: string;
  readonly tool: string;
  readonly input: CallInput;
  /** Shortens the time limit of the server. */
  readonly timeoutMs: number | undefined;
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
  if (called.isErr()) {
    const { code, details } = called.error;
    // The limit of the server may be shorter than that of the call, and then only the server can allow more.
    const isOwnLimit = code === 'TIMEOUT_ERROR' && timeoutMs !== undefined && details?.timeoutMs === timeoutMs;
    return reportRefusal(
      called.error,
      options,
      isOwnLimit ? onlyCallMessage({ kind: 'timed_out', timeoutMs }) : undefined,
    );
  }
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
  { running, tokenVariable }: RunningOptions,
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

interface ListRunningOptions extends RunningOptions, CommandContext {
  /** Only this server, or this tool of it, is shown. */
  readonly server: string | undefined;
  readonly tool: string | undefined;
  readonly json: boolean;
}

/** Prints the tools of a running gateway, with `json` as REST lists them, and returns the exit code. */
export async function listRunning(options: ListRunningOptions, signal: AbortSignal): Promise<number> {
  const { server, tool, running, tokenVariable, ownCommand = INSTALLED } = options;
  const token = tokenVariable === DEFAULT_TOKEN ? '' : ` --token-env ${quoted(tokenVariable)}`;
  const only = server === undefined ? '' : `?server=${encodeURIComponent(server)}`;
  const found = await send(`/mcp/tools${only}`, undefined, options, signal);
  const states = found.isErr() ? found : await send('/mcp/servers', undefined, options, signal);
  if (found.isErr()) return reportRefusal(found.error, options);
  if (states.isErr()) return reportRefusal(states.error, options);
  const listed = membersOf(found.value.tools).filter(({ name }) => tool === undefined || name === tool);
  const tools = listed.flatMap((one) => parseTool(String(one.server), one) ?? []);
  const answers = tools.some((one) => one.server === BUILT_IN_SERVER) ? [BUILT_IN] : [];
  const servers = [...membersOf(states.value.servers), ...answers].map(toServer);
  const shown = servers.filter(({ name }) => (server ?? name) === name);
  return listTools(
    {
      ...options,
      gateway: { servers: shown, tools, whenStarted: async () => {} },
      reply: { ...found.value, tools: listed },
      ownCommand: undefined,
      callCommand: { program: ownCommand.program, options: ` --url ${quoted(running.url)}${token}` },
      offered: () => [],
    },
    signal,
  );
}

/** The program itself, which `GET /mcp/servers` does not list. */
const BUILT_IN = { name: BUILT_IN_SERVER, state: 'available', transport: 'built in' };

/** Reads a server of `GET /mcp/servers`. */
function toServer({ name, state, transport, since, lastError, listedAt, changed, leftOut }: JsonObject): ShownServer {
  const line = (value: unknown) => cleanLine(String(value));
  const entries = membersOf(leftOut).map(({ list, name, reason }) => ({
    list,
    name: line(name),
    reason: line(reason),
  }));
  return withoutUndefined({
    ...{ name: line(name), state: line(state), transport: line(transport), since: new Date(String(since)) },
    lastError: typeof lastError === 'string' ? lastError : undefined,
    listedAt: typeof listedAt === 'string' ? new Date(listedAt) : undefined,
    changed: Array.isArray(changed) ? changed.map(String) : undefined,
    // This program has written them.
    leftOut: entries.length > 0 ? (entries as LeftOut[]) : undefined,
  });
}

function membersOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function reportRefusal(failure: Failure, options: FailureOptions, words = cleanText(failure.message).trim()): number {
  reportFailure(options, failure, words);
  if (failure.code === 'CANCELLED') return INTERRUPTED;
  return failure.code === 'SERVER_NOT_FOUND' ? BAD_USAGE : FAILED;
}
