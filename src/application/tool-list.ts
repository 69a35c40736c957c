import { ResultAsync } from 'neverthrow';
import { changedTools, type GatewayTool, isAllowed, type ToolFilter } from '../domain/gateway-tool.ts';
import type { ToolServerError } from '../domain/tool-call-error.ts';
import type { Logger } from './ports/logger.ts';
import type { ServerConnection } from './ports/tool-server.ts';

interface ToolListOptions {
  /** The name of the server. */
  readonly name: string;
  readonly filter: ToolFilter;
  readonly logger: Logger;
}

/** How many tools are remembered that the server no longer has. */
const MAX_KNOWN = 10_000;

/** The tools of a server, as it listed them last (ruling G9). */
export class ToolList {
  readonly #options: ToolListOptions;
  #tools: readonly GatewayTool[] = [];
  /** Every tool that was listed, so that one is recognized that was gone for a while. */
  #known = new Map<string, GatewayTool>();

  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  get tools(): readonly GatewayTool[] {
    return this.#tools;
  }

  /** Reads the complete list, and warns about tools that are described differently (tool poisoning). If it fails, the list stays. */
  read(connection: ServerConnection, signal: AbortSignal): ResultAsync<void, string> {
    return new ResultAsync(connection.listTools(signal)).map((listed) => this.#accept(listed)).mapErr(reasonOf);
  }

  #accept(listed: readonly GatewayTool[]): void {
    const { name: server, filter, logger } = this.#options;
    const tools = listed.filter(({ name }) => isAllowed(name, filter));
    for (const name of changedTools([...this.#known.values()], tools)) {
      logger.warn(`gateway: the description or schema of the tool ${server}/${name} has changed`);
    }
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    for (const tool of tools) this.#known.set(tool.name, tool);
    this.#tools = tools;
  }
}

function reasonOf(error: ToolServerError): string {
  switch (error.kind) {
    case 'json_rpc':
      return `tools/list failed: ${error.message}`;
    case 'crashed':
      return error.reason;
    case 'too_large':
      return `tools/list failed: a page is larger than ${error.maxBytes} bytes (max_response_bytes)`;
    case 'invalid_result':
      return `tools/list failed: ${error.detail}`;
    case 'unauthorized':
      return `the server did not accept the credentials (HTTP ${error.status}); check its headers`;
    case 'aborted':
      return 'tools/list was not answered in time';
  }
}
