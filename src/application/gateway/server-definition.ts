import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { Clock } from '../ports/clock.ts';
import type { Definitions } from '../ports/kept-definitions.ts';
import type { Logger } from '../ports/logger.ts';
import type { SchemaValidator } from '../ports/schema-validator.ts';
import type { OnListChanged, ServerConnection, ToolServer } from '../ports/tool-server.ts';
import type { ToolRules } from './tool-list.ts';

/** The facts about a server that the gateway needs. Only the adapter knows how to reach it. */
export interface ServerDefinition {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  /** Limits of a call, and of a start until the list of tools is known. */
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  readonly restart: 'on-failure' | 'never';
  /** Whether the server starts with the gateway, or with its first call. A server without known lists starts with the gateway in any case. */
  readonly start: 'at_once' | 'on_use';
  /** After this time without a call, the server is stopped until the next one; 0: never. */
  readonly idleMs: number;
  /** Whether the gateway is ready only while this server is available. */
  readonly isRequired: boolean;
  readonly filter: ToolRules;
  /** Whether its tools return nothing private. */
  readonly isPublic: boolean;
  readonly maxConcurrency: number;
}

export interface ConfiguredServer {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  /** The complete configuration of the server as a text. If it differs after a reload, the server is replaced. */
  readonly fingerprint: string;
  /** The description that the server gave of itself at an earlier start. */
  readonly known?: Definitions | undefined;
  /** Keeps the current description. Never rejects. */
  readonly keep?: ((definitions: Definitions) => Promise<void>) | undefined;
}

/** A server, and the connection to it while there is one. */
export interface RunningServer {
  readonly definition: ServerDefinition;
  readonly connection: ServerConnection | undefined;
  /** Whether a call has to wait for a start. */
  readonly isIdle: boolean;
}

export interface GatewayOptions {
  readonly validator: () => Promise<SchemaValidator>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly servers: readonly ConfiguredServer[];
  /** The tools in `gateway.lock`; undefined without a lock, so that every tool is offered. */
  readonly approved?: ApprovedTools | undefined;
  /** How long calls of a removed server may continue. */
  readonly drainMs: number;
  readonly onListChanged?: OnListChanged | undefined;
  /** Whether callers share the servers. */
  readonly isShared?: boolean | undefined;
}
