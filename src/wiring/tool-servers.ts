import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/login-tokens.ts';
import { childEnvironment } from '../adapters/outbound/mcp-client/child-environment.ts';
import { ChildToolServer } from '../adapters/outbound/mcp-client/child-tool-server.ts';
import type { ToolServer } from '../application/ports/tool-server.ts';
import type { RemoteServers } from './remote-servers.ts';
import type { Runtime } from './runtime.ts';
import { IDENTITY } from './version.ts';

interface ToolServersOptions {
  readonly logSpawn: (line: string) => void;
  readonly onRenewal: (server: string, outcome: RenewalOutcome) => void;
  /** Aborts when the program ends, and its servers must end soon. */
  readonly programEnds: AbortSignal;
}

export type ToolServers = ReturnType<typeof createToolServers>;

/** Makes servers of entries of the configuration. Import this only when one starts: it loads the official client. */
export function createToolServers(runtime: Runtime, { logSpawn, onRenewal, programEnds }: ToolServersOptions) {
  const { config, clock, logger } = runtime;
  let remote: Promise<RemoteServers> | undefined;
  return {
    create: async (entry: ServerEntry): Promise<ToolServer> => {
      const { name, connection, maxResponseBytes: maxBytes, forwardBaggage } = entry;
      const common = { name, maxBytes, forwardBaggage, clock, identity: IDENTITY };
      if (connection.kind === 'remote') {
        remote ??= import('./remote-servers.ts').then((module) => module.createRemoteServers(runtime, onRenewal));
        return (await remote).create({ ...connection, ...common });
      }
      const { envs, inheritEnv: inherit, notInherited = [] } = connection;
      const ownSecrets = [...config.secretVariables, ...notInherited];
      const env = childEnvironment({ environment: process.env, inherit, envs, ownSecrets });
      return new ChildToolServer({ ...connection, ...common, env, logger, logSpawn, programEnds });
    },
    /** The login of a machine to a server, if it has a token. */
    machineLogin: async (server: string) => (await remote)?.machineLogin(server),
    close: async () => (await remote)?.close(),
  };
}
