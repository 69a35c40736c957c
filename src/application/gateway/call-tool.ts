import { err, ok, type Result } from 'neverthrow';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import {
  CHECK_PROBLEMS,
  type SchemaCheckError,
  type ToolCallError,
  toInputError,
} from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import { BoundedSet } from '../../domain/values/bounded-set.ts';
import { type JsonObject, withoutUndefined } from '../../domain/values/json.ts';
import { jsonExtent } from '../../domain/values/json-extent.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { SchemaValidator } from '../ports/schema-validator.ts';
import type { ToolProgress } from '../ports/tool-server.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

export interface ToolCallInput {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  /** Who waits for a place on the server: callers take turns. */
  readonly caller?: string | undefined;
  /** Shortens the server's time limit; never extends it. */
  readonly timeoutMs?: number | undefined;
  /** Without it, the server is not asked for progress. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly onEnded?: ((report: ToolCallReport) => void) | undefined;
}

export type ToolCallOutcome = Result<ToolResult, ToolCallError>;

/** A finished call, without any text of it. `outcome` is `answered`, `tool_error` (a result with `isError`), or the kind of failure. */
export interface ToolCallReport {
  readonly server: string;
  readonly tool: string;
  readonly outcome: 'answered' | 'tool_error' | ToolCallError['kind'];
  readonly seconds: number;
}

export interface CallOptions {
  readonly validator: SchemaValidator;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether a result that does not match the tool's own `outputSchema` is an error, or a warning in the log (ruling G17). */
  readonly checkOutput: 'warn' | 'strict';
  readonly onCallEnded: (report: ToolCallReport) => void;
}

interface Dependencies extends CallOptions {
  readonly find: (server: string) => ServerSupervisor | undefined;
  readonly names: () => readonly string[];
}

/** Calls a tool of a server. REST, MCP, the terminal and the model all use it (ruling G14). */
export class CallTool {
  readonly #deps: Dependencies;
  /** The tools with a warning about their output. */
  readonly #warned = new BoundedSet();
  readonly #spare: AbortController[] = [];

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Never rejects. Ends with `cancelled` soon after `signal` aborts, whatever the server does. */
  async execute(input: ToolCallInput, signal: AbortSignal): Promise<ToolCallOutcome> {
    const { find, names, clock, onCallEnded } = this.#deps;
    const startedMs = clock.elapsedMs();
    const supervisor = find(input.server);
    const outcome =
      supervisor === undefined
        ? err({ kind: 'unknown_server' as const, server: input.server, known: names() })
        : await this.#withTimeout(input, supervisor, signal);
    // The name of an unknown server or tool is text from the caller.
    const isKnown = supervisor?.knowsTool(input.tool) === true;
    const report: ToolCallReport = {
      server: supervisor === undefined ? '' : input.server,
      tool: isKnown ? input.tool : '',
      outcome: outcome.match(
        (result) => (result.isError ? 'tool_error' : 'answered'),
        ({ kind }) => kind,
      ),
      seconds: (clock.elapsedMs() - startedMs) / 1000,
    };
    onCallEnded(report);
    input.onEnded?.(report);
    return outcome;
  }

  /** The time limit includes the waits: for a first start, and for a free place. */
  async #withTimeout(
    input: ToolCallInput,
    supervisor: ServerSupervisor,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome> {
    const timeoutMs = Math.min(supervisor.definition.timeoutMs, input.timeoutMs ?? Number.POSITIVE_INFINITY);
    const call = (untilOver: AbortSignal) => this.#call(input, supervisor, untilOver);
    const { outcome, isTimedOut } = await withDeadline(this.#deps.clock, timeoutMs, signal, call, this.#spare);
    if (outcome.isErr() && outcome.error.kind === 'cancelled' && isTimedOut)
      return err({ kind: 'timed_out', timeoutMs });
    return outcome;
  }

  async #call(input: ToolCallInput, supervisor: ServerSupervisor, signal: AbortSignal): Promise<ToolCallOutcome> {
    const { server, tool: name, args, caller = '' } = input;
    if ((await supervisor.whenStarted(signal)) === 'aborted') return err({ kind: 'cancelled' });
    if (supervisor.connection === undefined) return err(notAvailable(supervisor));
    const tool = supervisor.tools.find((known) => known.name === name);
    if (tool === undefined) {
      return err({ kind: 'unknown_tool', server, tool: name, known: supervisor.tools.map(({ name }) => name) });
    }
    const check = { server, tool: name, schema: tool.inputSchema, value: args, caller };
    const checked = await this.#deps.validator.validate(check, signal);
    if (checked.isErr()) return err(toInputError(checked.error));

    const place = await supervisor.places.acquire(caller, undefined, signal);
    if (place === 'aborted') return err({ kind: 'cancelled' });
    const { maxConcurrency } = supervisor.definition;
    if (place === 'full') return err({ kind: 'overloaded', server, maxConcurrency });
    try {
      // The server may have been lost while the call was waiting.
      const { connection } = supervisor;
      if (connection === undefined) return err(notAvailable(supervisor));
      const outcome = await connection.callTool(name, args, input.onProgress, signal);
      if (outcome.isOk()) return await this.#checkOutput(tool, outcome.value, caller, signal);
      const { error } = outcome;
      if (error.kind === 'login_required' || error.kind === 'unauthorized') return err({ ...error, server });
      return err(error.kind === 'aborted' ? { kind: 'cancelled' } : error);
    } finally {
      supervisor.places.release(caller);
    }
  }

  async #checkOutput(
    { server, name, outputSchema: schema }: GatewayTool,
    result: ToolResult,
    caller: string,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome> {
    const { validator, checkOutput } = this.#deps;
    const { structuredContent: value, isError } = result;
    if (schema === undefined || isError) return ok(result);
    const isStrict = checkOutput === 'strict';
    if (!isStrict && isLarge(value)) return ok(result);
    const checked =
      value === undefined ? MISSING : await validator.validate({ server, tool: name, schema, value, caller }, signal);
    if (checked.isOk()) return ok(result);
    const { error } = checked;
    if (error.kind === 'aborted') return err({ kind: 'cancelled' });
    if (error.kind === 'unchecked') {
      this.#warn(server, name, `was not checked: ${CHECK_PROBLEMS[error.problem]}`);
      return ok(result);
    }
    const detail = error.errors.map(({ path, message }) => `${path} ${message}`)[0] ?? '';
    if (isStrict) return err({ kind: 'invalid_result', detail });
    this.#warn(server, name, `does not match the tool's outputSchema: ${detail}`);
    return ok(result);
  }

  /** Once per tool. */
  #warn(server: string, tool: string, problem: string): void {
    const name = `${server}/${tool}`;
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#deps.logger.warn(`gateway: a result of ${name} ${problem}`);
  }
}

const MISSING = err<void, SchemaCheckError>({
  kind: 'mismatch',
  errors: [{ path: 'structuredContent', message: 'is missing, but the tool has an outputSchema' }],
});

/** A larger output is checked only with `strict`; in characters. */
const MAX_OUTPUT = 64 * 1024;
/** Of a value as JSON, beside those of its texts and names: quotes, commas, digits. */
const CHARACTERS_PER_VALUE = 4;

function isLarge(output: unknown): boolean {
  const { values, characters } = jsonExtent(output, MAX_OUTPUT / CHARACTERS_PER_VALUE);
  return characters + values * CHARACTERS_PER_VALUE > MAX_OUTPUT;
}

function notAvailable(supervisor: ServerSupervisor): ToolCallError {
  const { name, state, lastError } = supervisor.status;
  if (state === 'login_required') return { kind: 'login_required', server: name };
  const { retryAfterMs } = supervisor;
  return { kind: 'not_available', server: name, state, ...withoutUndefined({ reason: lastError, retryAfterMs }) };
}
