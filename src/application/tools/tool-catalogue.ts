import { EVERYTHING, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { withAccess } from './call-access.ts';
import { withAudit } from './call-audit.ts';
import { withMetrics } from './call-metrics.ts';
import type { CatalogueOptions } from './catalogue-options.ts';
import type { ToolCall, ToolOutcome } from './tool-call.ts';

/** Every tool of the program, for every entry point: MCP, REST, the terminal, and the model in a grounded answer. */
export class ToolCatalogue {
  readonly #options: CatalogueOptions;
  /** Ends with `cancelled` soon after `signal` aborts, and rejects only because of a bug. */
  readonly call: (call: ToolCall, signal: AbortSignal) => Promise<ToolOutcome>;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    const checked = withAccess(options);
    const audited = options.audit === undefined ? checked : withAudit(options.audit, checked);
    this.call = withMetrics({ ...options, toolsFor: (rights) => this.toolsFor(rights) }, audited);
  }

  /** The tools that exist for a caller now. */
  toolsFor(rights: Rights): readonly GatewayTool[] {
    return this.#options
      .providers()
      .flatMap((provider) => provider.toolsFor(rights))
      .filter(rights.mayUse);
  }

  /** Whether a tool with this name exists now, for any caller. */
  has(server: string, tool: string): boolean {
    const owners = this.#options.providers().filter(({ serverNames }) => serverNames.includes(server));
    return owners
      .flatMap((owner) => owner.toolsFor(EVERYTHING))
      .some((one) => one.server === server && one.name === tool);
  }
}
