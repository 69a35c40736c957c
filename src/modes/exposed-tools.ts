import { GatewayTools } from '../adapters/inbound/mcp/gateway-tools.ts';
import type { ToolSet } from '../adapters/inbound/mcp/tool-set.ts';
import type { Runtime } from '../bootstrap.ts';
import type { GatewayHolder } from './gateway-holder.ts';

/** The answer tools and those of the servers, which start with the first list or call, and not before (ruling G23). */
export function exposedOnStdio(
  builtIn: ToolSet,
  { config, logger, clock, redactor }: Runtime,
  holder: () => Promise<GatewayHolder>,
  notify: () => void,
): ToolSet {
  const hooks = { onCallEnded: () => {}, logSpawn: (line: string) => logger.debug(line) };
  let isListening = false;
  const gateway = async () => {
    const started = await (await holder()).start(config.servers ?? [], hooks);
    if (!isListening) {
      started.onToolsChanged(() => {
        if (tools.isListOutdated) notify();
      });
    }
    isListening = true;
    return started;
  };
  const tools = new GatewayTools({ builtIn, gateway, notifiesOfChanges: true, clock, redactor });
  return tools;
}

/** The same over HTTP, where the servers start with the program, and no client can be notified. */
export function exposedOnHttp(builtIn: ToolSet, { clock, redactor }: Runtime, holder: GatewayHolder): ToolSet {
  const gateway = async () => {
    await holder.loading;
    return holder.gateway;
  };
  return new GatewayTools({ builtIn, gateway, notifiesOfChanges: false, clock, redactor });
}
