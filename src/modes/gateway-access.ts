import type { Gateway } from '../application/gateway.ts';
import type { Runtime } from '../bootstrap.ts';
import type { GatewayHolder } from './gateway-holder.ts';

/** The gateway for a mode, without loading it before it is needed. */
export interface GatewayAccess {
  readonly load: () => Promise<GatewayHolder>;
  /** Undefined while no server was started. */
  readonly current: () => Gateway | undefined;
}

/** Whether an answer may call a tool with effects; undefined without grounding, of which nothing is then loaded (ruling L1). */
export async function effectsOf({ config }: Runtime, { current }: GatewayAccess): Promise<(() => boolean) | undefined> {
  const { grounding } = config;
  if (grounding === undefined) return undefined;
  const { mayHaveEffects } = await import('../domain/grounding.ts');
  return () => mayHaveEffects(grounding, current()?.tools ?? []);
}
