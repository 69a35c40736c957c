import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { SharedEntry, SharedList } from '../../domain/gateway/shared-entries.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** The description that a server gave of itself when it last ran. */
export interface Definitions {
  /** Undefined if that is not known. */
  readonly listedAt?: Date | undefined;
  /** All tools, also those that a filter hides. */
  readonly tools: readonly GatewayTool[];
  /** Undefined if that is not known. */
  readonly capabilities?: JsonObject | undefined;
  readonly serverInfo?: JsonObject | undefined;
  /** The other lists of the server, without those that could not be read. */
  readonly shared: Readonly<Partial<Record<SharedList, readonly SharedEntry[]>>>;
}

/**
 * Keeps the descriptions of servers, so that their lists are known before they start. Neither promise rejects: a description that cannot be read
 * or written counts as not kept.
 */
export interface KeptDefinitions {
  /** `key` contains everything that the description of a server depends on, including secrets. The key itself is not kept. */
  read(key: string): Promise<Definitions | undefined>;
  /** Replaces the definitions. A process that reads at the same time, or after a crash, gets the earlier or the new ones, complete. */
  write(key: string, definitions: Definitions): Promise<void>;
}
