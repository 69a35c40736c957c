import type { GatewayTool } from '../domain/gateway-tool.ts';
import { CallTool, type ToolCallInput, type ToolCallOutcome, type ToolCallReport } from './call-tool.ts';
import { withDeadline } from './deadline.ts';
import type { Clock } from './ports/clock.ts';
import type { Logger } from './ports/logger.ts';
import type { SchemaValidator } from './ports/schema-validator.ts';
import type { ServerStatus } from './server-supervisor.ts';
import { type ConfiguredServer, ToolCatalog } from './tool-catalog.ts';

/** The user's own MCP servers, as drivers (REST, MCP, the command line) use them. */
export interface Gateway {
  readonly servers: readonly ServerStatus[];
  /** The tools of the servers that are available, in the order of the configuration. */
  readonly tools: readonly GatewayTool[];
  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined;
  readiness(): ReturnType<ToolCatalog['readiness']>;
  /** Resolves when every first start (of these servers) has settled, after `maxMs`, or when `signal` aborts. */
  whenStarted(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void>;
  callTool(call: ToolCallInput, signal: AbortSignal): Promise<ToolCallOutcome>;
  /** Starts a server immediately, in any state. False if there is no such server. */
  restart(name: string): boolean;
  /** Replaces the servers by those that are configured now (ruling G10). */
  reconfigure(servers: readonly ConfiguredServer[]): void;
  /** Notifies of changes of `tools`. Returns the removal. */
  onToolsChanged(listener: () => void): () => void;
  /** Ends every server. Resolves when nothing is left of any. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly validator: SchemaValidator;
  readonly servers: readonly ConfiguredServer[];
  readonly checkOutput: 'warn' | 'strict';
  /** How long calls of a removed server may take to end. */
  readonly drainMs: number;
  readonly onCallEnded: (report: ToolCallReport) => void;
}

/** Composes the gateway and starts its servers. */
export function startGateway(options: GatewayOptions): Gateway {
  const { clock, logger, validator, servers, checkOutput, drainMs, onCallEnded: onEnded } = options;
  const changeListeners = new Set<() => void>();
  const onToolsChanged = () => {
    for (const listener of changeListeners) listener();
  };
  const catalog = new ToolCatalog({ clock, logger, onToolsChanged });
  const callTool = new CallTool({ catalog, validator, clock, logger, checkOutput, onEnded });
  catalog.configure(servers, drainMs);
  return {
    get servers() {
      return catalog.statuses;
    },
    get tools() {
      return catalog.tools;
    },
    timeoutOf: (server) => catalog.find(server)?.definition.timeoutMs,
    readiness: () => catalog.readiness(),
    whenStarted: async (maxMs, signal, servers) => {
      await withDeadline(clock, maxMs, signal, (untilOver) => catalog.whenStarted(untilOver, servers));
    },
    callTool: (call, signal) => callTool.execute(call, signal),
    restart: (name) => {
      catalog.find(name)?.restart();
      return catalog.find(name) !== undefined;
    },
    reconfigure: (servers) => catalog.configure(servers, drainMs),
    onToolsChanged: (listener) => {
      changeListeners.add(listener);
      return () => changeListeners.delete(listener);
    },
    close: () => catalog.close(),
  };
}
