import { err, ok, type Result } from 'neverthrow';
import { type CallOrigin, isPermitted } from '../../domain/gateway/call-origin.ts';
import { type GatewayTool, isReadOnly } from '../../domain/gateway/gateway-tool.ts';
import {
  CHECK_PROBLEMS,
  type SchemaCheckError,
  type ToolCallError,
  type ToolServerError,
  toInputError,
} from '../../domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../domain/gateway/tool-result.ts';
import { BoundedSet } from '../../domain/values/bounded-set.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { jsonExtent } from '../../domain/values/json-extent.ts';
import type { Audit } from '../audit/audit.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { SchemaValidator } from '../ports/schema-validator.ts';
import type { ServerConnection, ToolProgress } from '../ports/tool-server.ts';
import { notAvailable, runOnServer, withTimeout } from './run-on-server.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

export interface ToolCallInput {
  readonly server: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly by: CallOrigin;
  /** Whether the call is sent only if the tool is read-only (ruling T9). */
  readonly onlyReads?: boolean | undefined;
  /** Shortens the server's time limit; never extends it. */
  readonly timeoutMs?: number | undefined;
  /** Without it, the server is not asked for progress. */
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The name of the tool, if that is known only when the server has started; undefined if it is `tool`. */
  readonly nameWhenStarted?: (() => string | undefined) | undefined;
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
  readonly audit?: Audit | undefined;
}

interface Dependencies extends CallOptions {
  readonly supervisors: () => ReadonlyMap<string, ServerSupervisor>;
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
    const { supervisors, clock, onCallEnded, audit } = this.#deps;
    const startedMs = clock.elapsedMs();
    const rights = input.by.rights();
    const found = supervisors().get(input.server);
    const supervisor = rights.sees(input.server) ? found : undefined;
    // Not asynchronous: each layer of promises costs a percent of a short call.
    const run = (call: ToolCallInput): Promise<ToolCallOutcome> => {
      if (supervisor === undefined) {
        if (found !== undefined) call.by.onDenied?.();
        const known = [...supervisors().keys()].filter(rights.sees);
        return Promise.resolve(err({ kind: 'unknown_server', server: input.server, known }));
      }
      // The time limit includes the waits: for a first start, and for a free place.
      const timeoutMs = Math.min(supervisor.definition.timeoutMs, call.timeoutMs ?? Number.POSITIVE_INFINITY);
      const task = (untilOver: AbortSignal) => this.#call(call, supervisor, untilOver);
      return withTimeout(clock, timeoutMs, signal, task, this.#spare);
    };
    const outcome = audit === undefined ? await run(input) : await audit.record(input, run, toEnding);
    // The name of an unknown server or tool is text from the caller.
    const known = supervisor?.list.current.byName.get(input.nameWhenStarted?.() ?? input.tool)?.tool;
    const report: ToolCallReport = {
      server: supervisor === undefined ? '' : input.server,
      tool: known !== undefined && rights.mayUse(known) ? known.name : '',
      outcome: outcomeOf(outcome),
      seconds: (clock.elapsedMs() - startedMs) / 1000,
    };
    onCallEnded(report);
    input.onEnded?.(report);
    return outcome;
  }

  async #call(input: ToolCallInput, supervisor: ServerSupervisor, signal: AbortSignal): Promise<ToolCallOutcome> {
    const { server, args, by } = input;
    const { caller } = by;
    if ((await supervisor.whenStarted(signal)) === 'aborted') return err({ kind: 'cancelled' });
    if (supervisor.connection === undefined) return err(notAvailable(supervisor));
    const name = input.nameWhenStarted?.() ?? input.tool;
    const usable = usableTool(supervisor, name, input);
    if (usable.isErr()) return err(usable.error);
    const { tool, own } = usable.value;
    const check = { server, tool: name, schema: tool.inputSchema, value: args, caller };
    const checked = await this.#deps.validator.validate(check, signal);
    if (checked.isErr()) return err(toInputError(checked.error));

    const send = (connection: ServerConnection): Promise<Result<ToolResult, ToolServerError | ToolCallError>> => {
      // The tool or the rights may have changed while the call was waiting.
      const refused = usableTool(supervisor, name, input);
      if (refused.isErr()) return Promise.resolve(err(refused.error));
      return connection.callTool(own.name, args, { onProgress: input.onProgress, trace: by.trace }, signal);
    };
    const outcome = await runOnServer(supervisor, caller, send, signal);
    return outcome.isOk() && tool.outputSchema !== undefined && !outcome.value.isError
      ? this.#checkOutput(tool, tool.outputSchema, outcome.value, caller, signal)
      : outcome;
  }

  async #checkOutput(
    { server, name }: GatewayTool,
    schema: JsonObject,
    result: ToolResult,
    caller: string,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome> {
    const { validator, checkOutput } = this.#deps;
    const { structuredContent: value } = result;
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

/** The tool of a call, if it is offered to its caller now. */
function usableTool(supervisor: ServerSupervisor, tool: string, { server, by, onlyReads }: ToolCallInput) {
  const found = supervisor.list.current.byName.get(tool);
  if (found === undefined || !isPermitted(by, found.tool)) {
    const known = supervisor.tools.filter(by.rights().mayUse).map(({ name }) => name);
    return err({ kind: 'unknown_tool' as const, server, tool, known });
  }
  if (found.change !== undefined) return err({ kind: 'tool_changed' as const, server, tool, change: found.change });
  return onlyReads && !isReadOnly(found.tool) ? err({ kind: 'not_read_only' as const, server, tool }) : ok(found);
}

function outcomeOf(outcome: ToolCallOutcome): ToolCallReport['outcome'] {
  if (outcome.isErr()) return outcome.error.kind;
  return outcome.value.isError ? 'tool_error' : 'answered';
}

function toEnding(outcome: ToolCallOutcome) {
  return { outcome: outcomeOf(outcome), result: outcome.isOk() ? outcome.value.raw : undefined };
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
