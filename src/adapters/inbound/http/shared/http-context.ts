import type { Clock } from '../../../../application/ports/clock.ts';
import type { Logger } from '../../../../application/ports/logger.ts';
import type { QuotaGuard } from '../../../../application/quota-guard.ts';
import type { Redactor } from '../../../../domain/redaction.ts';
import type { CallObserver } from '../../mcp/call-meter.ts';
import type { CallerLimit } from './caller-limit.ts';
import type { AccessEntry } from './exchange.ts';

/** What MCP and REST share. */
export interface HttpContext {
  /** The path of the MCP endpoint. */
  readonly path: string;
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  readonly requiresToken: boolean;
  readonly isDraining: () => boolean;
  readonly maxBodyBytes: number;
  /** Calls, and lists over REST. */
  readonly places: CallerLimit;
  /** Bytes of request bodies. A value needs up to 21 times as much memory as its JSON. */
  readonly bodyBytes: CallerLimit;
  /** Undefined if nothing is limited per day. */
  readonly quota?: Pick<QuotaGuard, 'admit'> | undefined;
  /** `limit` is the name of a limit, or `unknown` if the store failed. */
  readonly onQuotaRefused: (limit: string) => void;
  /** Observes a call, for the metrics and the access log. */
  readonly observe: (entry: AccessEntry) => Required<CallObserver>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
}
