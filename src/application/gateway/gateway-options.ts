import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { SchemaValidator } from '../ports/schema-validator.ts';
import type { OnListChanged } from '../ports/tool-server.ts';
import type { ConfiguredServer } from './server-definition.ts';

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
