import { err, ok, type Result } from 'neverthrow';
import type { AnswerGateway } from '../../src/application/grounded/grounded-calls.ts';
import type { ToolCall } from '../../src/application/tools/tool-call.ts';
import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';
import type { ServerState, ToolCallError } from '../../src/domain/gateway/tool-call-error.ts';
import type { ToolResult } from '../../src/domain/gateway/tool-result.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';

type Outcome = Result<ToolResult, ToolCallError>;
export type ConfiguredCall = (args: JsonObject, signal: AbortSignal) => Promise<Outcome>;

interface Options {
  readonly tools?: readonly GatewayTool[];
  /** Every other server is available. */
  readonly unavailable?: readonly string[];
  /** Of the servers that are not available. */
  readonly state?: ServerState;
  /** By the name of the tool; without one, a tool returns a text. */
  readonly replies?: Readonly<Record<string, ConfiguredCall>>;
  readonly publicServers?: readonly string[];
  readonly onWait?: () => Promise<unknown>;
}

/** Has its configured tools, whose replies may fail or hang, and records what it was asked. */
export class FakeAnswerGateway implements AnswerGateway {
  readonly waits: { readonly servers: readonly string[]; readonly maxMs: number }[] = [];
  readonly called: { readonly tool: string; readonly args: JsonObject; readonly timeoutMs: number | undefined }[] = [];
  readonly gateway: AnswerGateway['gateway'];
  /** The largest number of calls at the same time. */
  maxRunning = 0;
  #running = 0;
  options: Options;

  constructor(options: Options = {}) {
    this.options = options;
    const statuses = () => this.#statuses();
    const tools = () => this.options.tools ?? [];
    this.gateway = {
      get tools() {
        return tools();
      },
      as: ({ rights }) => ({
        get servers() {
          return statuses().filter(({ name }) => rights.sees(name));
        },
        tools: tools().filter(rights.mayUse),
        changed: [],
        timeoutOf: () => undefined,
        isOffered: (server) => !this.options.unavailable?.includes(server),
        whenStarted: async () => {},
        whenLooked: async () => {},
        whenListed: async (maxMs, _signal, servers = []) => {
          this.waits.push({ servers, maxMs });
          await this.options.onWait?.();
        },
      }),
    };
  }

  isPublic(server: string): boolean {
    return this.options.publicServers?.includes(server) === true;
  }

  async call({ server, tool, args, timeoutMs }: ToolCall, signal: AbortSignal): Promise<Outcome> {
    this.called.push({ tool: `${server}/${tool}`, args, timeoutMs });
    this.#running += 1;
    this.maxRunning = Math.max(this.maxRunning, this.#running);
    const outcome = await (this.options.replies?.[tool] ?? returns(text('the output')))(args, signal);
    this.#running -= 1;
    return outcome;
  }

  #statuses() {
    const { unavailable = [], state: other = 'failed' } = this.options;
    const names = this.waits.at(-1)?.servers ?? [];
    return names.map((name) => {
      const state: ServerState = unavailable.includes(name) ? other : 'available';
      return { name, state, transport: 'stdio' as const, since: new Date(0), tools: 1, restarts: 0 };
    });
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
