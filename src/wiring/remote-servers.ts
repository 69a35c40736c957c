import type { LoginServer } from '../adapters/outbound/login/login.ts';
import type { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { RemoteToolServer, type RemoteToolServerOptions } from '../adapters/outbound/mcp-client/remote-tool-server.ts';
import { renewedFetch } from '../adapters/outbound/mcp-client/renewed-values.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import type { ToolServer } from '../application/ports/tool-server.ts';
import type { LoginUse } from '../domain/gateway/login-owner.ts';
import { type RemoteOptions, remoteLogin } from './logins.ts';
import type { Runtime } from './runtime.ts';
import type { RenewValues } from './server-values.ts';

export type RemoteServers = ReturnType<typeof createRemoteServers>;

type CreatedServer = LoginServer &
  Omit<RemoteToolServerOptions, 'fetch' | 'login'> & {
    readonly renew: RenewValues | undefined;
    readonly use: LoginUse;
  };

/** Creates servers on other machines. Import this file only when one connects, because a server on this machine needs no network. */
export function createRemoteServers(runtime: Runtime, options: RemoteOptions) {
  const network = createProxyFetch(process.env);
  const logins = new Map<string, RemoteLogin | undefined>();
  return {
    /** `renew`: reads the values of the entry once more. */
    create: ({ renew, use, ...server }: CreatedServer): ToolServer => {
      const fetch =
        renew === undefined ? network.fetch : renewedFetch({ fetch: network.fetch, configured: server, renew });
      const login = remoteLogin({ ...server, use }, runtime, fetch, options);
      if (use === 'shared') logins.set(server.name, login);
      return new RemoteToolServer({ ...server, login, fetch });
    },
    /** The login of a machine to a server, if it has a token. */
    machineLogin: (server: string) => logins.get(server)?.summary,
    close: () => network.close(),
  };
}
