import { unmatchedGrant } from '../adapters/inbound/words/config-problems.ts';
import { notApprovedMessage } from '../adapters/inbound/words/lock-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { RenewalOutcome } from '../adapters/outbound/login/login-tokens.ts';
import { Gateway } from '../application/gateway/gateway.ts';
import type { ConfiguredServer } from '../application/gateway/server-definition.ts';
import type { KeptDefinitions } from '../application/ports/kept-definitions.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { SchemaValidator } from '../application/ports/schema-validator.ts';
import type { OnListChanged, ToolServer } from '../application/ports/tool-server.ts';
import { unmatchedGrants } from '../domain/gateway/access.ts';
import type { ApprovedTools } from '../domain/gateway/approved-tools.ts';
import { knownOf, type Starts } from './kept-definitions.ts';
import type { Runtime } from './runtime.ts';
import type { ToolServers } from './tool-servers.ts';

/** A gateway whose servers have been started, and what changes and ends it. */
export type ComposedGateway = Awaited<ReturnType<typeof composeGateway>>;

export interface GatewayOptions {
  readonly servers: readonly ServerEntry[];
  readonly validator: () => Promise<SchemaValidator>;
  /** Called once the servers are being started. `end` ends them at once, without waiting for what they do. */
  readonly onStarted?: (gateway: Gateway, end: () => void) => void;
  readonly onListChanged?: OnListChanged | undefined;
  readonly onRenewal?: (server: string, outcome: RenewalOutcome) => void;
  /** Whether callers share the servers. */
  readonly isShared?: boolean;
  /** Which servers start with the gateway. Default: `at_once`. */
  readonly starts?: Starts;
  /** Where what servers describe of themselves is kept, if anywhere. */
  readonly kept?: KeptDefinitions | undefined;
  /** Logs the start of a process. */
  readonly logSpawn: (line: string) => void;
  /** Logs what happens to servers. Default: the logger of the program. */
  readonly logger?: Logger;
}

/** Composes the gateway, and starts the servers that start with it. */
export async function composeGateway(runtime: Runtime, options: GatewayOptions) {
  const { config, clock, logger } = runtime;
  const { onRenewal = () => {} } = options;
  const ending = new AbortController();
  const { logSpawn } = options;
  let loading: Promise<ToolServers> | undefined;
  const load = () => {
    const toServers = ({ createToolServers }: typeof import('./tool-servers.ts')) =>
      createToolServers(runtime, { logSpawn, onRenewal, programEnds: ending.signal });
    loading ??= import('./tool-servers.ts').then(toServers);
    return loading;
  };
  const { starts = 'at_once', kept } = options;
  const toConfigured = (servers: readonly ServerEntry[], approved: ApprovedTools | undefined) =>
    Promise.all(
      servers.map(async (entry) => {
        const { start, ...known } = await knownOf(entry, starts, kept, approved, runtime);
        return {
          ...toConfiguredServer(
            entry,
            start,
            lazyServer(async () => (await load()).create(entry)),
          ),
          ...known,
        };
      }),
    );
  let { servers } = options;
  const gateway = new Gateway({
    clock,
    logger: options.logger ?? logger,
    validator: options.validator,
    servers: await toConfigured(servers, config.lock?.approved),
    approved: config.lock?.approved,
    drainMs: config.http?.drainMs ?? 0,
    onListChanged: options.onListChanged,
    isShared: options.isShared,
  });
  const checkAccess = accessCheck(gateway, runtime, options.logger ?? logger);
  gateway.onToolsChanged(checkAccess);
  gateway.onToolsChanged(lockCheck(gateway, options.logger ?? logger));
  options.onStarted?.(gateway, () => {
    ending.abort();
    void gateway.close();
  });
  return {
    gateway,
    /** Warns of what `access` says about tools that do not exist; after a change of tools, this happens by itself. */
    checkAccess,
    /** Whether the tools of a server return nothing private, as it is configured when this is called. */
    isPublic: (server: string) => servers.some(({ name, isPublic }) => name === server && isPublic),
    /** The login of a machine to a server, if it has a token. */
    machineLogin: async (server: string) => (await loading)?.machineLogin(server),
    /** Replaces the servers and the approved tools. If it rejects, nothing was changed. */
    reconfigure: async (configured: readonly ServerEntry[], approved: ApprovedTools | undefined) => {
      gateway.reconfigure(await toConfigured(configured, approved), approved);
      servers = configured;
    },
    /** Resolves when no process and no connection is left. */
    close: async () => {
      await gateway.close();
      await (await loading)?.close();
    },
  };
}

/** What the lock withholds of a server is in one warning, until it changes. */
function lockCheck(gateway: Gateway, logger: Logger): () => void {
  const warned = new Map<string, string>();
  return () => {
    for (const { name, changed = [] } of gateway.servers) {
      const warning = changed.length === 0 ? '' : `gateway: ${name}: ${notApprovedMessage(changed)}`;
      if (warning !== '' && warned.get(name) !== warning) logger.warn(warning);
      warned.set(name, warning);
    }
  };
}

/** Each name or pattern of `access` that matches no tool is in one warning. */
function accessCheck(gateway: Gateway, { access }: Runtime, logger: Logger): () => Promise<void> {
  const warned = new Set<string>();
  return async () => {
    const policy = access();
    if (policy === undefined) return;
    for (const grant of unmatchedGrants(policy, gateway)) {
      const warning = unmatchedGrant(grant);
      if (!warned.has(warning)) logger.warn(warning);
      warned.add(warning);
    }
  };
}

function toConfiguredServer(
  entry: ServerEntry,
  start: ConfiguredServer['definition']['start'],
  server: ToolServer,
): ConfiguredServer {
  const { connection, maxResponseBytes: _, forwardBaggage: _forward, isPublic: _isPublic, ...definition } = entry;
  const transport = connection.kind === 'child' ? 'stdio' : connection.transport === 'sse' ? 'sse' : 'http';
  return { definition: { ...definition, start, transport }, server, fingerprint: JSON.stringify(entry) };
}

/** A server that is made when it is started: this loads the official client. */
function lazyServer(make: () => Promise<ToolServer>): ToolServer {
  let made: ToolServer | undefined;
  return {
    get login() {
      return made?.login;
    },
    connect: async (events, signal) => {
      made ??= await make();
      return made.connect(events, signal);
    },
  };
}
