import { err, ok } from 'neverthrow';
import { withDeadline } from '../../../../application/async/deadline.ts';
import type { ToolCallInput, ToolCallOutcome } from '../../../../application/gateway/call-tool.ts';
import type { Clock } from '../../../../application/ports/clock.ts';
import type { SchemaValidator } from '../../../../application/ports/schema-validator.ts';
import { BUILT_IN_SERVER, type GatewayTool, parseTool } from '../../../../domain/gateway/gateway-tool.ts';
import { toInputError } from '../../../../domain/gateway/tool-call-error.ts';
import { parseToolResult } from '../../../../domain/gateway/tool-result.ts';
import { latest } from '../../../../domain/values/latest.ts';
import type { ToolCall, ToolSet } from '../../mcp/tool-set.ts';

interface BuiltInServerOptions {
  readonly tools: ToolSet;
  readonly clock: Clock;
  readonly validator: () => Promise<SchemaValidator>;
  readonly timeoutMs: number;
}

/** The answer tools in the form of a server's tools. */
export class BuiltInServer {
  readonly #options: BuiltInServerOptions;
  readonly timeoutMs: number;

  constructor(options: BuiltInServerOptions) {
    this.#options = options;
    this.timeoutMs = options.timeoutMs;
  }

  /** The same objects as long as the tools are the same. */
  get tools(): readonly GatewayTool[] {
    return this.#toGatewayTools(this.#options.tools.list());
  }

  readonly #toGatewayTools = latest((tools: ReturnType<ToolSet['list']>) =>
    tools.flatMap((tool) => parseTool(BUILT_IN_SERVER, tool) ?? []),
  );

  /** Ends with `cancelled` soon after `signal` aborts. */
  async call(
    call: ToolCallInput,
    by: Pick<ToolCall, 'caller' | 'observer'>,
    signal: AbortSignal,
  ): Promise<ToolCallOutcome> {
    const { tools, clock, validator, timeoutMs } = this.#options;
    const { server, tool: name, args } = call;
    const tool = this.tools.find((tool) => tool.name === name);
    if (tool === undefined) {
      return err({ kind: 'unknown_tool', server, tool: name, known: this.tools.map(({ name }) => name) });
    }
    const check = { server, tool: name, schema: tool.inputSchema, value: args, caller: by.caller };
    const checked = await (await validator()).validate(check, signal);
    if (checked.isErr()) return err(toInputError(checked.error));
    if (signal.aborted) return err({ kind: 'cancelled' });
    // The answer has its own time limit, which is in its message.
    const { timeoutMs: ms = timeoutMs } = call;
    const limitMs = ms < timeoutMs ? ms : Number.POSITIVE_INFINITY;
    const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, async (untilOver) =>
      tools.call({ name, args, meta: {}, era: 'modern', ...by }, () => {}, untilOver),
    );
    if (isTimedOut) return err({ kind: 'timed_out', timeoutMs: ms });
    if (outcome === undefined || typeof outcome === 'string') return err({ kind: 'cancelled' });
    if ('error' in outcome) return err({ kind: 'json_rpc', ...outcome.error });
    const result = parseToolResult(outcome.result);
    return result === undefined
      ? err({ kind: 'invalid_result', detail: 'it is not the result of a tool' })
      : ok(result);
  }
}
