import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/stored-tokens.ts';
import type { ToolCallReport } from '../application/gateway/call-tool.ts';
import type { ConfiguredServer, Gateway } from '../application/gateway/gateway.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { SchemaValidator } from '../application/ports/schema-validator.ts';
import type { ToolServer } from '../application/ports/tool-server.ts';
import type { Runtime } from './runtime.ts';
import { PROGRAM, VERSION } from './version.ts';

/** A gateway whose servers have been started, and what changes and ends it. */
export interface ComposedGateway {
  readonly gateway: Gateway;
  /** Whether the tools of a server return nothing private, as it is configured when this is called. */
  readonly isPublic: (server: string) => boolean;
  /** Replaces the servers (ruling G10). If it rejects, nothing was changed. */
  readonly reconfigure: (servers: readonly ServerEntry[]) => Promise<void>;
  /** Resolves when no process and no connection is left. */
  readonly close: () => Promise<void>;
}

export interface GatewayOptions {
  readonly servers: readonly ServerEntry[];
  readonly validator: SchemaValidator;
  /** Called once the servers are being started. */
  readonly onStarted?: (gateway: Gateway) => void;
  readonly onCallEnded?: (report: ToolCallReport) => void;
  readonly onRenewal?: (server: string, outcome: RenewalOutcome) => void;
  /** Logs the start of a process (ruling G20). */
  readonly logSpawn: (line: string) => void;
  /** Logs what happens to servers. Default: the logger of the program. */
  readonly logger?: Logger;
}

const IDENTITY = { name: PROGRAM, version: VERSION };

/** Composes the gateway and starts its servers. Everything that it needs is loaded now, and not before (ruling G24). */
export async function composeGateway(runtime: Runtime, options: GatewayOptions): Promise<ComposedGateway> {
  const { config, clock, logger } = runtime;
  const { onRenewal = () => {} } = options;
  const [
    { Gateway },
    { ChildToolServer },
    { RemoteToolServer },
    { childEnvironment },
    { ProxyFetches },
    { remoteLogin },
  ] = await Promise.all([
    import('../application/gateway/gateway.ts'),
    import('../adapters/outbound/mcp-client/child-tool-server.ts'),
    import('../adapters/outbound/mcp-client/remote-tool-server.ts'),
    import('../adapters/outbound/mcp-client/child-environment.ts'),
    import('../adapters/outbound/network/proxy-fetches.ts'),
    import('./logins.ts'),
  ]);
  const fetches = new ProxyFetches(process.env);
  const toServer = async ({ name, connection, maxResponseBytes: maxBytes }: ServerEntry): Promise<ToolServer> => {
    if (connection.kind === 'remote') {
      const fetchFor = (url: string) => fetches.fetchFor(url);
      const login = await remoteLogin({ ...connection, name }, runtime, { fetchFor, onRenewal });
      const fetch = await fetchFor(connection.url);
      return new RemoteToolServer({ ...connection, name, maxBytes, fetch, login, clock, identity: IDENTITY });
    }
    const { envs, inheritEnv: inherit, notInherited = [] } = connection;
    const ownSecrets = [...config.secretVariables, ...notInherited];
    const env = childEnvironment({ environment: process.env, inherit, envs, ownSecrets });
    return new ChildToolServer({
      ...connection,
      env,
      name,
      maxBytes,
      logger,
      clock,
      logSpawn: options.logSpawn,
      identity: IDENTITY,
    });
  };
  const toConfigured = (servers: readonly ServerEntry[]) =>
    Promise.all(servers.map(async (entry) => toConfiguredServer(entry, await toServer(entry))));
  let { servers } = options;
  const gateway = new Gateway({
    clock,
    logger: options.logger ?? logger,
    validator: options.validator,
    servers: await toConfigured(servers),
    checkOutput: config.gateway.checkOutput,
    drainMs: config.http?.drainMs ?? 0,
    onCallEnded: options.onCallEnded ?? (() => {}),
  });
  options.onStarted?.(gateway);
  return {
    gateway,
    isPublic: (server) => servers.some(({ name, isPublic }) => name === server && isPublic),
    reconfigure: async (configured) => {
      gateway.reconfigure(await toConfigured(configured));
      servers = configured;
    },
    close: async () => {
      await gateway.close();
      await fetches.close();
    },
  };
}

function toConfiguredServer(entry: ServerEntry, server: ToolServer): ConfiguredServer {
  const { connection, maxResponseBytes: _, isPublic: _isPublic, ...definition } = entry;
  const transport = connection.kind === 'child' ? 'stdio' : connection.transport === 'sse' ? 'sse' : 'http';
  return { definition: { ...definition, transport }, server, fingerprint: JSON.stringify(entry) };
}
