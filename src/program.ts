import type { Application } from './application/application.ts';
import type { Foundation } from './foundation.ts';

/** The program as its modes run it: the foundation, and the application that the container puts on it when first asked. */
export interface Program extends Foundation {
  readonly application: Application;
}
