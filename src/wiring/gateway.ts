import { unmatchedGrant } from '../adapters/inbound/words/config-problems.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/stored-tokens.ts';
import { childEnvironment } from '../adapters/outbound/mcp-client/child-environment.ts';
import { ChildToolServer } from '../adapters/outbound/mcp-client/child-tool-server.ts';
import type { RemoteLogin } from '../adapters/outbound/mcp-client/remote-login.ts';
import { RemoteToolServer } from '../adapters/outbound/mcp-client/remote-tool-server.ts';
import { ProxyFetches } from '../adapters/outbound/network/proxy-fetches.ts';
import type { ToolCallReport } from '../application/gateway/call-tool.ts';
import { Gateway } from '../application/gateway/gateway.ts';
import type { ConfiguredServer } from '../application/gateway/server-supervisor.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { SchemaValidator } from '../application/ports/schema-validator.ts';
import type { OnListChanged, ToolServer } from '../application/ports/tool-server.ts';
import type { ApprovedTools } from '../domain/gateway/approved-tools.ts';
import { remoteLogin } from './logins.ts';
import type { Runtime } from './runtime.ts';
import { IDENTITY } from './version.ts';

/** A gateway whose servers have been started, and what changes and ends it. */
export type ComposedGateway = Awaited<ReturnType<typeof composeGateway>>;

export interface GatewayOptions {
  readonly servers: readonly ServerEntry[];
  readonly validator: SchemaValidator;
  /** Called once the servers are being started. */
  readonly onStarted?: (gateway: Gateway) => void;
  readonly onCallEnded?: (report: ToolCallReport) => void;
  readonly onListChanged?: OnListChanged | undefined;
  readonly onRenewal?: (server: string, outcome: RenewalOutcome) => void;
  /** Logs the start of a process (ruling G20). */
  readonly logSpawn: (line: string) => void;
  /** Logs what happens to servers. Default: the logger of the program. */
  readonly logger?: Logger;
}

/** Composes the gateway and starts its servers. Import this only then: it loads everything that they need (ruling G24). */
export async function composeGateway(runtime: Runtime, options: GatewayOptions) {
  const { config, clock, logger } = runtime;
  const { onRenewal = () => {} } = options;
  const fetches = new ProxyFetches(process.env);
  const logins = new Map<string, RemoteLogin | undefined>();
  const toServer = async ({ name, connection, maxResponseBytes: maxBytes }: ServerEntry): Promise<ToolServer> => {
    const common = { name, maxBytes, clock, identity: IDENTITY };
    if (connection.kind === 'remote') {
      const login = await remoteLogin({ ...connection, name }, runtime, fetches, onRenewal);
      logins.set(name, login);
      return new RemoteToolServer({ ...connection, ...common, login, fetch: await fetches.fetchFor(connection.url) });
    }
    const { envs, inheritEnv: inherit, notInherited = [] } = connection;
    const ownSecrets = [...config.secretVariables, ...notInherited];
    const env = childEnvironment({ environment: process.env, inherit, envs, ownSecrets });
    return new ChildToolServer({ ...connection, ...common, env, logger, logSpawn: options.logSpawn });
  };
  const toConfigured = (servers: readonly ServerEntry[]) =>
    Promise.all(servers.map(async (entry) => toConfiguredServer(entry, await toServer(entry))));
  let { servers } = options;
  const gateway = new Gateway({
    clock,
    logger: options.logger ?? logger,
    validator: options.validator,
    servers: await toConfigured(servers),
    approved: config.lock?.approved,
    checkOutput: config.gateway.checkOutput,
    drainMs: config.http?.drainMs ?? 0,
    onListChanged: options.onListChanged,
    onCallEnded: options.onCallEnded ?? (() => {}),
    audit: runtime.audit,
  });
  const checkAccess = accessCheck(gateway, runtime, options.logger ?? logger);
  gateway.onToolsChanged(checkAccess);
  options.onStarted?.(gateway);
  return {
    gateway,
    /** Warns of what `access` says about tools that do not exist; after a change of tools, this happens by itself. */
    checkAccess,
    /** Whether the tools of a server return nothing private, as it is configured when this is called. */
    isPublic: (server: string) => servers.some(({ name, isPublic }) => name === server && isPublic),
    /** The login of a machine to a server, if it has a token. */
    machineLogin: async (server: string) => logins.get(server)?.summary(),
    /** Replaces the servers and the approved tools (ruling G10). If it rejects, nothing was changed. */
    reconfigure: async (configured: readonly ServerEntry[], approved: ApprovedTools | undefined) => {
      gateway.reconfigure(await toConfigured(configured), approved);
      servers = configured;
    },
    /** Resolves when no process and no connection is left. */
    close: async () => {
      await gateway.close();
      await fetches.close();
    },
  };
}

/** Each name or pattern of `access` that matches no tool is in one warning (ruling T6). */
function accessCheck(gateway: Gateway, { access }: Runtime, logger: Logger): () => Promise<void> {
  const warned = new Set<string>();
  return async () => {
    const policy = access();
    if (policy === undefined) return;
    const { unmatchedGrants } = await import('../domain/gateway/access.ts');
    for (const grant of unmatchedGrants(policy, gateway)) {
      const warning = unmatchedGrant(grant);
      if (!warned.has(warning)) logger.warn(warning);
      warned.add(warning);
    }
  };
}

function toConfiguredServer(entry: ServerEntry, server: ToolServer): ConfiguredServer {
  const { connection, maxResponseBytes: _, isPublic: _isPublic, ...definition } = entry;
  const transport = connection.kind === 'child' ? 'stdio' : connection.transport === 'sse' ? 'sse' : 'http';
  return { definition: { ...definition, transport }, server, fingerprint: JSON.stringify(entry) };
}
