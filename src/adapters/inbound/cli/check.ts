import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { Gateway } from '../../../application/gateway/gateway.ts';

export type Servers = Pick<Gateway, 'servers' | 'tools' | 'changed' | 'listed' | 'whenStarted'>;

export function toCheck(name: string, verdict: Check['verdict'], detail: string): Check {
  return { name, verdict, detail };
}

export function withWarnings(name: string, detail: string, warnings: readonly string[]): Check {
  return toCheck(name, warnings.length > 0 ? 'warning' : 'ok', [detail, ...warnings].join('; '));
}
