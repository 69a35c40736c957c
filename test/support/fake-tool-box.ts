import { err, ok, type Result } from 'neverthrow';
import type { ToolBox } from '../../src/application/ports/tool-box.ts';
import type { GatewayTool } from '../../src/domain/gateway-tool.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ToolCallError } from '../../src/domain/tool-call-error.ts';
import type { ToolResult } from '../../src/domain/tool-result.ts';

type Outcome = Result<ToolResult, ToolCallError>;
export type ConfiguredCall = (args: JsonObject, signal: AbortSignal) => Promise<Outcome>;

interface Options {
  readonly tools?: readonly GatewayTool[];
  readonly unavailable?: readonly string[];
  /** By the name of the tool; without one, a tool returns a text. */
  readonly replies?: Readonly<Record<string, ConfiguredCall>>;
  readonly onList?: () => Promise<unknown>;
}

/** Has its configured tools, whose replies may fail or hang, and records what it was asked. */
export class FakeToolBox implements ToolBox {
  readonly lists: { readonly servers: readonly string[]; readonly maxMs: number }[] = [];
  readonly called: { readonly tool: string; readonly args: JsonObject; readonly timeoutMs: number }[] = [];
  /** The largest number of calls at the same time. */
  maxRunning = 0;
  #running = 0;
  options: Options;

  constructor(options: Options = {}) {
    this.options = options;
  }

  async list(servers: readonly string[], maxMs: number) {
    this.lists.push({ servers, maxMs });
    const { tools = [], unavailable = [], onList } = this.options;
    await onList?.();
    return { tools, unavailable };
  }

  async call(
    { server, name }: GatewayTool,
    args: JsonObject,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    this.called.push({ tool: `${server}/${name}`, args, timeoutMs });
    this.#running += 1;
    this.maxRunning = Math.max(this.maxRunning, this.#running);
    const outcome = await (this.options.replies?.[name] ?? returns(text('the output')))(args, signal);
    this.#running -= 1;
    return outcome;
  }
}

export function result(over: Partial<ToolResult>): ToolResult {
  return { raw: {}, content: [], isError: false, ...over };
}

export function text(...texts: readonly string[]): ToolResult {
  return result({ content: texts.map((text) => ({ type: 'text', text })) });
}

export function returns(value: ToolResult): ConfiguredCall {
  return async () => ok(value);
}

/** The tool answers with `isError`. */
export function reports(error: string): ConfiguredCall {
  return returns({ ...text(error), isError: true });
}

export function callFails(error: ToolCallError): ConfiguredCall {
  return async () => err(error);
}

/** Never answers, whatever happens. */
export const hangsForever: ConfiguredCall = () => new Promise(() => {});
