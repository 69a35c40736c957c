import { err, ok, type Result } from 'neverthrow';
import { withDeadline } from '../../../../application/async/deadline.ts';
import type { Audit } from '../../../../application/audit/audit.ts';
import type { ToolCallInput, ToolCallOutcome } from '../../../../application/gateway/call-tool.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import type { SchemaValidator } from '../../../../application/ports/schema-validator.ts';
import { isToolName } from '../../../../domain/answers/tool-name.ts';
import { BUILT_IN_SERVER, type Rights } from '../../../../domain/gateway/call-origin.ts';
import { type GatewayTool, parseTool } from '../../../../domain/gateway/gateway-tool.ts';
import { type ToolCallError, toInputError } from '../../../../domain/gateway/tool-call-error.ts';
import { parseToolResult } from '../../../../domain/gateway/tool-result.ts';
import type { CallObserver, CallReport } from '../../mcp/call-meter.ts';
import type { Tool, ToolSet } from '../../mcp/tool-set.ts';

type Checked = Result<void, ToolCallError>;

interface BuiltInServerOptions {
  readonly tools: ToolSet;
  readonly clock: Clock;
  readonly validator: () => Promise<SchemaValidator>;
  readonly timeoutMs: number;
  readonly audit?: Audit | undefined;
}

/** The answer tools in the form of a server's tools. */
export class BuiltInServer {
  readonly #options: BuiltInServerOptions;
  readonly #known = new WeakMap<Tool, GatewayTool>();
  readonly timeoutMs: number;

  constructor(options: BuiltInServerOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs;
  }

  /** The same objects as long as the tools are the same. */
  toolsFor(rights: Rights): readonly GatewayTool[] {
    return this.#options.tools.list(rights).flatMap((tool) => this.#toGatewayTool(tool) ?? []);
  }

  #toGatewayTool(tool: Tool): GatewayTool | undefined {
    const known = this.#known.get(tool) ?? parseTool(BUILT_IN_SERVER, tool);
    if (known !== undefined) this.#known.set(tool, known);
    return known;
  }

  /** Answers a call of this server, or of one that does not exist. Ends with `cancelled` soon after `signal` aborts. */
  async call(call: ToolCallInput, observer: CallObserver, signal: AbortSignal): Promise<ToolCallOutcome> {
    const { tools, clock, timeoutMs, audit } = this.#options;
    const { tool: name, args, by } = call;
    const check = (call: ToolCallInput) => this.#check(call, signal);
    // The line of a question is written where it is answered.
    const toEnding = (checked: Checked) => (checked.isErr() ? { outcome: checked.error.kind } : undefined);
    const checked = audit === undefined ? await check(call) : await audit.record(call, check, toEnding);
    if (checked.isErr()) return err(checked.error);
    let end: CallReport['outcome'] | undefined;
    const onEnded = (report: CallReport) => {
      end = report.outcome;
      observer.onEnded(report);
    };
    const observed = { ...observer, onEnded };
    // The answer has its own time limit, which is in its message.
    const { timeoutMs: ms = timeoutMs } = call;
    const limitMs = ms < timeoutMs ? ms : Number.POSITIVE_INFINITY;
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, async (untilOver) =>
      tools.call({ name, args, meta: {}, era: 'modern', by, observer: observed }, () => {}, untilOver),
    );
    if (end === 'audit_unavailable') return err({ kind: end });
    if (isTimedOut) return err({ kind: 'timed_out', timeoutMs: ms });
    if (outcome === undefined || typeof outcome === 'string') return err({ kind: 'cancelled' });
    if ('error' in outcome) return err({ kind: 'json_rpc', ...outcome.error });
    const result = parseToolResult(outcome.result);
    return result === undefined
      ? err({ kind: 'invalid_result', detail: 'it is not the result of a tool' })
      : ok(result);
  }

  async #check({ server, tool: name, args, by }: ToolCallInput, signal: AbortSignal): Promise<Checked> {
    const isOurs = server === BUILT_IN_SERVER;
    const known = isOurs ? this.toolsFor(by.rights()) : [];
    const tool = known.find((tool) => tool.name === name);
    if (tool === undefined) {
      if (isOurs && isToolName(name)) by.onDenied?.();
      if (!isOurs || !by.rights().sees(server)) return err({ kind: 'unknown_server', server, known: [] });
      return err({ kind: 'unknown_tool', server, tool: name, known: known.map(({ name }) => name) });
    }
    const check = { server, tool: name, schema: tool.inputSchema, value: args, caller: by.caller };
    const checked = await (await this.#options.validator()).validate(check, signal);
    return signal.aborted && checked.isOk() ? err({ kind: 'cancelled' }) : checked.mapErr(toInputError);
  }
}
