import type { B } from './imports-cycle-b.ts';

export interface A {
  readonly b?: B;
}
