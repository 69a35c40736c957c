import { GatewayTools } from '../adapters/inbound/mcp/gateway-tools.ts';
import type { ToolSet } from '../adapters/inbound/mcp/tool-set.ts';
import type { Runtime } from '../bootstrap.ts';
import type { GatewayHolder } from './gateway-holder.ts';

/** The answer tools and those of the servers, which start with the first list or call, and not before (ruling G23). */
export function exposedOnStdio(
  builtIn: ToolSet,
  { config, logger }: Runtime,
  holder: () => Promise<GatewayHolder>,
  notify: () => void,
): ToolSet {
  const hooks = { onCallEnded: () => {}, logSpawn: (line: string) => logger.debug(line) };
  let isListening = false;
  const gateway = async () => {
    const started = await (await holder()).start(config.servers ?? [], hooks);
    if (!isListening) started.onToolsChanged(notify);
    isListening = true;
    return started;
  };
  return new GatewayTools({ builtIn, gateway, notifiesOfChanges: true });
}

/** The same over HTTP, where the servers start with the program, and no client can be notified. */
export function exposedOnHttp(builtIn: ToolSet, holder: GatewayHolder): ToolSet {
  const gateway = async () => {
    await holder.loading;
    return holder.gateway;
  };
  return new GatewayTools({ builtIn, gateway, notifiesOfChanges: false });
}
