import type { Clock } from '../ports/clock.ts';
import type { Audit } from './audit.ts';
import type { CallReport } from './tool-call.ts';
import type { ToolProvider } from './tool-provider.ts';

export interface CatalogueOptions {
  /** The providers that exist now. */
  readonly providers: () => readonly ToolProvider[];
  readonly clock: Clock;
  readonly audit?: Audit | undefined;
  /** The names of all configured servers, if some of them have no provider. */
  readonly configured?: readonly string[] | undefined;
  /** Observes all calls, also those of the model. */
  readonly onCallEnded?: ((report: CallReport) => void) | undefined;
}
