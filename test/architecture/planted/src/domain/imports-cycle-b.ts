import type { A } from './imports-cycle-a.ts';

export interface B {
  readonly a?: A;
}
