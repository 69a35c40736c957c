import { GatewayTools, type GatewayToolsOptions } from '../adapters/inbound/mcp/gateway-tools.ts';
import { GatewayMethods } from '../adapters/inbound/mcp/shared-methods.ts';
import type { Runtime } from './runtime.ts';

export type Exposure = Awaited<ReturnType<typeof createExposure>>;

/** What clients see of the servers, as `gateway.expose` says: their tools, after the answer tools, and what else they have. */
export async function createExposure(
  { config, clock, redactor, onUnknownTool }: Runtime,
  exposed: Pick<GatewayToolsOptions, 'builtIn' | 'gateway' | 'notifiesOfChanges'>,
) {
  const { expose, always } = config.gateway;
  const options = { ...exposed, clock, redactor, onUnknownTool };
  const shared = new GatewayMethods({ ...options, isSession: exposed.notifiesOfChanges });
  if (typeof expose === 'boolean') return { tools: new GatewayTools(options), shared };
  const { SearchTools } = await import('../adapters/inbound/mcp/search-tools.ts');
  return { tools: new SearchTools({ ...options, isAuto: expose === 'auto', always }), shared };
}
