import type { Clock } from '../ports/clock.ts';
import type { Audit } from './audit.ts';
import type { CallReport } from './tool-call.ts';
import type { ToolProvider } from './tool-provider.ts';

export interface CatalogueOptions {
  /** Those that exist now. */
  readonly providers: () => readonly ToolProvider[];
  readonly clock: Clock;
  readonly audit?: Audit | undefined;
  /** The names of all servers in the configuration, if some of them have no provider. */
  readonly configured?: readonly string[] | undefined;
  /** Also for the calls of the model. */
  readonly onCallEnded?: ((report: CallReport) => void) | undefined;
}
