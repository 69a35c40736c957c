import { GatewayTools, type GatewayToolsOptions } from '../adapters/inbound/mcp/gateway-tools.ts';
import { SearchTools } from '../adapters/inbound/mcp/search-tools.ts';
import { GatewayMethods } from '../adapters/inbound/mcp/shared-methods.ts';
import type { Runtime } from './runtime.ts';

export type Exposure = ReturnType<typeof createExposure>;

/** What clients see of the servers, as `gateway.expose` says: their tools, after the answer tools, and what else they have. */
export function createExposure(
  { config, clock, logger, redactor }: Runtime,
  exposed: Pick<GatewayToolsOptions, 'builtIn' | 'catalogue' | 'gateway' | 'notifiesOfChanges' | 'hiddenServers'>,
) {
  const { expose, always } = config.gateway;
  const options = { ...exposed, clock, logger, redactor, toolErrors: config.server.toolErrors };
  const shared = new GatewayMethods({ ...options, isSession: exposed.notifiesOfChanges });
  if (typeof expose === 'boolean') return { tools: new GatewayTools(options), shared };
  return { tools: new SearchTools({ ...options, isAuto: expose === 'auto', always }), shared };
}
