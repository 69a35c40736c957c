import type { HttpServices } from '../../src/adapters/inbound/http/services.ts';
import type { Gateway } from '../../src/application/gateway/gateway.ts';
import { LoadedServers } from '../../src/application/gateway/loaded-servers.ts';

/** Servers whose gateway is loaded; without one, no servers are configured. */
export function loadedServers(gateway?: Gateway): HttpServices['servers'] {
  return { gateway, isLoading: false, whenLoaded: async () => gateway };
}

/** Servers whose gateway is loaded later. */
export function loadingServers(gateway: Gateway, whenLoaded: Promise<void>): LoadedServers<string> {
  const servers = new LoadedServers<string>(async () => {
    await whenLoaded;
    return { gateway, reconfigure: async () => {}, warn: () => {} };
  });
  void servers.configure(['any'], undefined);
  return servers;
}
