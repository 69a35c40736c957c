import type { Result } from 'neverthrow';
import type { GatewayTool } from '../domain/gateway-tool.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolCallError } from '../domain/tool-call-error.ts';
import type { ToolResult } from '../domain/tool-result.ts';
import type { Gateway } from './gateway.ts';
import type { ToolBox } from './ports/tool-box.ts';

/** The gateway, and what its configuration says about the servers now. */
export interface AnswerGateway {
  readonly gateway: Gateway;
  /** The names of the servers whose tools return nothing private, as they are configured when this is read. */
  readonly publicServers: readonly string[];
}

/** The tools of the gateway's servers. */
export class GatewayToolBox implements ToolBox {
  readonly #start: () => Promise<AnswerGateway | undefined>;
  #started: AnswerGateway | undefined;

  /** `start` starts the servers when it is called first. */
  constructor(start: () => Promise<AnswerGateway | undefined>) {
    this.#start = start;
  }

  /** Of the servers as they are configured now; none before the first list. */
  get publicServers(): readonly string[] {
    return this.#started?.publicServers ?? [];
  }

  async list(servers: readonly string[], maxMs: number, signal: AbortSignal) {
    const gateway = await this.#gateway();
    await gateway?.whenStarted(maxMs, signal, servers);
    const available = new Set(
      (gateway?.servers ?? []).filter(({ state }) => state === 'available').map(({ name }) => name),
    );
    return {
      tools: (gateway?.tools ?? []).filter(({ server }) => servers.includes(server)),
      unavailable: servers.filter((server) => !available.has(server)),
    };
  }

  async call(
    { server, name }: GatewayTool,
    args: JsonObject,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolCallError>> {
    const gateway = await this.#gateway();
    if (gateway === undefined) throw new Error('a tool was offered without a gateway');
    return gateway.callTool({ server, tool: name, args, timeoutMs }, signal);
  }

  async #gateway(): Promise<Gateway | undefined> {
    const started = await this.#start();
    // The servers may have been configured again since the last call.
    this.#started = started;
    return started?.gateway;
  }
}
