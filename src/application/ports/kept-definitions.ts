import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { SharedEntry, SharedList } from '../../domain/gateway/shared-entries.ts';
import type { JsonObject } from '../../domain/values/json.ts';

/** What a server described of itself when it ran last. */
export interface Definitions {
  /** Undefined if that is not known. */
  readonly listedAt?: Date | undefined;
  /** All tools, also those that a filter hides. */
  readonly tools: readonly GatewayTool[];
  /** Undefined if that is not known. */
  readonly capabilities?: JsonObject | undefined;
  readonly serverInfo?: JsonObject | undefined;
  /** Its other lists; without those that could not be read. */
  readonly shared: Readonly<Partial<Record<SharedList, readonly SharedEntry[]>>>;
}

/**
 * Keeps what servers described of themselves, so that their lists are there before they start. Both promises never reject: what cannot be read
 * or written is as if it were not kept.
 */
export interface KeptDefinitions {
  /** `key` has everything that what a server says depends on, also secrets. It is not kept itself. */
  read(key: string): Promise<Definitions | undefined>;
  /** Replaces what was kept. A process that reads at the same time, or after a crash, gets the earlier or the new definitions, complete. */
  write(key: string, definitions: Definitions): Promise<void>;
}
