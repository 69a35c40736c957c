import { err, ok, type Result } from 'neverthrow';
import { type CallOrigin, EVERYTHING } from '../../domain/gateway/call-origin.ts';
import type { Retry } from '../../domain/gateway/elicitation.ts';
import { isReadOnly } from '../../domain/gateway/gateway-tool.ts';
import type { SchemaError, ToolCallError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { type NamedTools, toolsByName } from '../../domain/gateway/unique-names.ts';
import { clip } from '../../domain/values/clean-text.ts';
import { exactNumberIn, WRITES_DIGITS } from '../../domain/values/exact-number.ts';
import { type JsonObject, withoutUndefined } from '../../domain/values/json.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/services.ts';
import type { ServerConnection, ToolProgress } from '../ports/tool-server.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome, ToolReturn } from '../tools/tool-call.ts';
import { sendAnswers, toAsked, withRefusal } from './asked-call.ts';
import type { GatewayOptions } from './server-definition.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

const MAX_DIGITS = 100;

/** All servers, as callers with these rights see them. */
export interface Servers {
  as(by: Pick<CallOrigin, 'rights'>): NamedTools;
}

/** Finds a tool of a server, which is started if necessary. The list of a lost server is still used. */
export function findTool(
  servers: Servers,
  supervisor: ServerSupervisor,
  call: ToolCall,
  signal: AbortSignal,
): FoundTool | Promise<FoundTool> {
  if (!supervisor.isIdle) return toolOf(supervisor, nameIn(servers, call), signal);
  // Callers may have lists of an earlier start.
  const before = supervisor.list.current.byName;
  call.on?.({ kind: 'starting' });
  return supervisor.use(async () => toolOf(supervisor, nameIn(servers, call), signal, before), signal);
}

/** The name of the tool at its server, as far as it is known now. */
function nameIn(servers: Servers, { tool, by, exposedName }: ToolCall): string {
  if (exposedName === undefined) return tool;
  return toolsByName(servers.as(by)).get(exposedName)?.name ?? tool;
}

function toolOf(
  supervisor: ServerSupervisor,
  name: string,
  signal: AbortSignal,
  before?: ReadonlyMap<string, unknown>,
): FoundTool {
  if (signal.aborted) return { problem: { kind: 'cancelled' } };
  const { name: server } = supervisor.definition;
  const found = supervisor.list.current.byName.get(name)?.tool;
  if (supervisor.connection === undefined) return { tool: found, problem: notAvailable(supervisor) };
  const isGone = found === undefined && before?.has(name) === true;
  return isGone ? { problem: { kind: 'unknown_tool', server, tool: name, known: [], isGone } } : { tool: found };
}

/** Calls a tool of a server, if the input matches its schema, and the tool is approved. */
export async function callOnServer(
  supervisor: ServerSupervisor,
  call: ObservedCall,
  { validator: loadValidator, clock }: Pick<GatewayOptions, 'validator' | 'clock'>,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { server, tool: name, args, by } = call;
  const usable = usableTool(supervisor, call);
  if (usable.isErr()) return err(usable.error);
  const validator = await loadValidator();
  const problem =
    digitsProblem(supervisor, args) ??
    validator.validate({ server, tool: name, schema: usable.value.tool.inputSchema, value: args });
  if (problem !== undefined) return err({ kind: 'invalid_input', errors: [problem] });

  const run = (connection: ServerConnection) => send(connection, { supervisor, call, clock }, signal);
  return supervisor.use(() => runOnServer(supervisor, by.caller, run, signal), signal);
}

interface Sending extends Pick<GatewayOptions, 'clock'> {
  readonly supervisor: ServerSupervisor;
  readonly call: ObservedCall;
}

/** Sends a call whose turn has come. */
async function send(
  connection: ServerConnection,
  { supervisor, call, clock }: Sending,
  signal: AbortSignal,
): Promise<Result<ToolReturn, ToolServerError | ToolCallError>> {
  const { args, by, line, on } = call;
  // The tool may have changed while the call was waiting.
  const sendable = usableTool(supervisor, call);
  if (sendable.isErr()) return err(sendable.error);
  const isOpen = connection.asksByResult || call.retry?.requestState === undefined;
  if (!isOpen) return err({ kind: 'no_open_question' });
  const { tool, own } = sendable.value;
  const begun = line === undefined || isReadOnly(tool) ? undefined : await line.begin();
  if (begun?.isErr()) return err(begun.error);
  const onProgress = call.wantsProgress ? (progress: ToolProgress) => on({ kind: 'progress', progress }) : undefined;
  const asked = toAsked(call, supervisor.definition);
  const options = { onProgress, trace: by.trace, inputSchema: own.inputSchema, asked };
  const sendAgain = (retry: Retry | undefined) => connection.callTool(own.name, args, { ...options, retry }, signal);
  on({ kind: 'sent' });
  const retry = connection.asksByResult ? call.retry : undefined;
  for (const action of retry?.answered ?? []) call.elicitations.onPassed({ server: call.server, action });
  const first = await sendAgain(retry);
  // Almost every call ends here.
  if (first.isOk() && first.value.asks === undefined) return withRefusal(first, call.elicitations);
  return sendAnswers(first, { call, asked, clock, send: sendAgain }, signal);
}

/** The first number of an input that the official client would change in a request over HTTP. */
function digitsProblem({ definition }: ServerSupervisor, args: JsonObject): SchemaError | undefined {
  const found = WRITES_DIGITS || definition.transport === 'stdio' ? undefined : exactNumberIn(args);
  if (found === undefined) return undefined;
  const message = `would be changed by this version of Node.js: ${clip(found.source, MAX_DIGITS)}; send it as a text`;
  return { path: found.path, message };
}

/** The tool of a call, if it exists now and is approved. */
function usableTool(supervisor: ServerSupervisor, { server, tool, onlyReads }: ToolCall) {
  const found = supervisor.list.current.byName.get(tool);
  if (found === undefined) return err({ kind: 'unknown_tool' as const, server, tool, known: [] });
  if (found.change !== undefined) return err({ kind: 'tool_changed' as const, server, tool, change: found.change });
  return onlyReads && !isReadOnly(found.tool) ? err({ kind: 'not_read_only' as const, server, tool }) : ok(found);
}

/** Runs a request on a started server as soon as the caller gets one of the server's places. Never rejects. */
export async function runOnServer<T>(
  supervisor: ServerSupervisor,
  caller: string,
  run: (connection: ServerConnection) => Promise<Result<T, ToolServerError | ToolCallError>>,
  signal: AbortSignal,
): Promise<Result<T, ToolCallError>> {
  const { name: server, maxConcurrency } = supervisor.definition;
  const place = await supervisor.places.acquire(caller, undefined, signal);
  if (place === 'aborted') return err({ kind: 'cancelled' });
  if (place === 'full') return err({ kind: 'overloaded', server, maxConcurrency });
  try {
    // The server may have been lost while the request was waiting.
    const { connection } = supervisor;
    if (connection === undefined) return err(notAvailable(supervisor));
    const outcome = await run(connection);
    if (outcome.isOk()) return ok(outcome.value);
    const { error } = outcome;
    if (error.kind === 'crashed')
      return err({ ...error, reason: supervisor.failure.explained(error.reason, EVERYTHING) });
    if (error.kind === 'login_required') return err(loginRequired(supervisor));
    if (error.kind === 'unauthorized') return err({ ...error, server });
    return err(error.kind === 'aborted' ? { kind: 'cancelled' } : error);
  } finally {
    supervisor.places.release();
  }
}

/** The outcome of a task: its own, `cancelled` if `signal` aborts, or `timed_out`. */
export async function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<Result<T, ToolCallError>>,
): Promise<Result<T, ToolCallError>> {
  const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, task);
  const isLate = outcome.isErr() && outcome.error.kind === 'cancelled' && isTimedOut;
  return isLate ? err({ kind: 'timed_out', timeoutMs }) : outcome;
}

export function notAvailable(supervisor: ServerSupervisor): ToolCallError {
  const { name, state, lastError } = supervisor.status;
  if (state === 'login_required') return loginRequired(supervisor);
  const { retryAfterMs } = supervisor;
  return { kind: 'not_available', server: name, state, ...withoutUndefined({ reason: lastError, retryAfterMs }) };
}

function loginRequired({ definition: { name: server, loginUrl: url }, failure }: ServerSupervisor): ToolCallError {
  return { kind: 'login_required', server, ...withoutUndefined({ url, reason: failure.refusal }) };
}
