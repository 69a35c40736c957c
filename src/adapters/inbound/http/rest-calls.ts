import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/services.ts';
import type { ToolCall } from '../../../application/tools/tool-call.ts';
import type { ToolCatalogue } from '../../../application/tools/tool-catalogue.ts';
import { CHECK_TOOL } from '../../../domain/answers/question.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { type SchemaError, unknownServer } from '../../../domain/gateway/tool-call-error.ts';
import { toPlainResult } from '../../../domain/gateway/tool-result.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { excerpt } from '../words/plain.ts';
import { REFUSALS, rateLimitHeaders } from '../words/refusal-messages.ts';
import { runCall } from './calls.ts';
import { answerJson, refuse } from './errors.ts';
import { readJsonBody, typeRefusal } from './json-body.ts';
import {
  ofFailedCall,
  ofInvalidBody,
  ofToolCallError,
  ofToolError,
  type Refusal,
  refusal,
  rightRequired,
} from './refusal.ts';
import { type HttpRequest, originOf } from './request.ts';
import type { Serving } from './services.ts';

/** A call as a request describes it, without the caller. */
type NamedCall = Omit<ToolCall, 'by'>;

/** How a path names a call, and what it sends. */
interface CallForm {
  readonly parse: (body: unknown, c: HttpRequest) => Result<NamedCall, Refusal>;
  /** The HTTP status of a result that is an error of the tool. */
  readonly toolErrorStatus: number;
  /** Makes the body of the response from the result. */
  readonly toBody: (result: ReturnType<typeof toPlainResult>) => unknown;
}

/** The call is in the body. Sends the result in an envelope, and a tool's own error with the status 200. */
export const ENVELOPE: CallForm = {
  parse: parseCall,
  toolErrorStatus: 200,
  toBody: (plain) => ({ success: true, ...plain }),
};

/** The path names the tool; the bodies are the input and the result. Without a plain value, the result is its content blocks. */
export const BY_PATH: CallForm = {
  parse: (body, c) => {
    const { server = '', tool = '' } = c.req.param();
    return parseInput(server, tool, body);
  },
  toolErrorStatus: 422,
  toBody: ({ result, content }) => result ?? content ?? null,
};

export const TEXT_TO_CHECK: CallForm = {
  parse: (body) => parseInput(BUILT_IN_SERVER, CHECK_TOOL, body),
  toolErrorStatus: 422,
  toBody: ({ result }) => result,
};

/** Calls the tool that the request names. */
export async function call(
  c: HttpRequest,
  services: Serving,
  { parse, toolErrorStatus, toBody }: CallForm,
  tools: Pick<ToolCatalogue, 'call'>,
): Promise<Response> {
  const { redactor, metrics, maxBodyBytes } = services;
  const named = (await readJsonBody(c, maxBodyBytes)).andThen((body) => parse(body, c));
  if (named.isErr()) return refuse(c, named.error);
  const signal = c.get('left').signal;
  const on = metrics.observe(c.get('log'));
  const input = { ...named.value, by: originOf(c, 'rest'), on };
  return run(c, services, async () => {
    const outcome = await tools.call(input, signal);
    if (outcome.isErr()) return ofFailedCall(outcome.error, toolErrorStatus, redactor);
    const { value } = outcome;
    if (value.isError) return ofToolError(value, toolErrorStatus);
    return { status: 200, json: redactedJson(toBody(toPlainResult(value)), redactor.anywhere) };
  });
}

/** Minimum time between two restarts of a server that operators request: each restart fails the calls of all callers on it. */
const RESTART_EVERY_MS = 10_000;

/** Limits how often operators restart a server. */
export class RestartLimit {
  readonly #clock: Clock;
  /** The time of the last restart, by server. */
  readonly #restartedMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a restart, or returns how long it must wait. */
  take(server: string): number | undefined {
    const nowMs = this.#clock.elapsedMs();
    const waitMs = (this.#restartedMs.get(server) ?? Number.NEGATIVE_INFINITY) + RESTART_EVERY_MS - nowMs;
    if (waitMs > 0) return waitMs;
    this.#restartedMs.set(server, nowMs);
    return undefined;
  }
}

/** Restarts a server. This counts as a call, and is logged as one without a tool. The body is optional, and not used. */
export async function restart(c: HttpRequest, services: Serving, limit: RestartLimit): Promise<Response> {
  const rights = c.get('rights');
  const refused = rights.isOperator ? typeRefusal(c.env.incoming.headers) : rightRequired(REFUSALS.operator);
  if (refused !== undefined) return refuse(c, refused);
  const server = c.req.param('server') ?? '';
  return run(c, services, async () => {
    if (!allServers(services).filter(rights.sees).includes(server))
      return ofToolCallError(unknownServer(server, allServers(services), rights));
    const waitMs = limit.take(server);
    if (waitMs !== undefined) {
      const more = { details: { server }, retryAfterMs: waitMs, reason: 'restarted a moment ago' };
      return refusal('OVERLOADED', REFUSALS.earlyRestart(server, waitMs), more);
    }
    services.servers.gateway?.restart(server);
    c.get('log').call = { server, tool: '', outcome: 'answered' };
    return { status: 202, json: '{"success":true}' };
  });
}

export function allServers({ servers }: Serving): readonly string[] {
  return servers.gateway?.servers.map(({ name }) => name) ?? [];
}

/** The outcome of a call that was not refused. */
interface Reply {
  readonly status: number;
  readonly json: string;
}

/** Runs a request that counts as a call, within the limits of its caller. */
async function run(c: HttpRequest, services: Serving, make: () => Promise<Refusal | Reply>): Promise<Response> {
  const called = await runCall(c, services, make);
  if (called.isErr()) return refuse(c, called.error);
  const { value, left } = called.value;
  const headers = left === undefined ? {} : rateLimitHeaders(left);
  if ('json' in value) return answerJson(c, value.status, value.json, headers);
  return refuse(c, { ...value, headers: { ...headers, ...value.headers } });
}

const MAX_ERRORS = 20;

/** Reads the body of `POST /mcp/call`. The refusal names every problem with it. */
function parseCall(body: unknown): Result<NamedCall, Refusal> {
  if (!isObject(body)) {
    return err(ofInvalidBody([{ path: '', message: 'must be an object with server, toolName and input' }]));
  }
  const { server, toolName, input = {}, timeout, ...unknown } = body;
  const errors: SchemaError[] = Object.keys(unknown)
    .slice(0, MAX_ERRORS)
    .map((key) => ({ path: `/${excerpt(key)}`, message: 'is not a known key' }));
  if (typeof server !== 'string') errors.push({ path: '/server', message: 'must be a string' });
  if (typeof toolName !== 'string') errors.push({ path: '/toolName', message: 'must be a string' });
  if (!isObject(input)) errors.push({ path: '/input', message: 'must be an object' });
  const isTimeout = timeout === undefined || (typeof timeout === 'number' && Number.isInteger(timeout) && timeout >= 1);
  if (!isTimeout) errors.push({ path: '/timeout', message: 'must be an integer of milliseconds, 1 or greater' });
  if (errors.length > 0) return err(ofInvalidBody(errors));
  const timeoutMs = timeout as number | undefined;
  return ok({ server: String(server), tool: String(toolName), args: input as JsonObject, timeoutMs });
}

/** Reads the body of a path that names the tool: the input of the tool. */
function parseInput(server: string, tool: string, body: unknown): Result<NamedCall, Refusal> {
  if (isObject(body)) return ok({ server, tool, args: body });
  return err(ofInvalidBody([{ path: '', message: 'must be an object: the input of the tool' }]));
}
