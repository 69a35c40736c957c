import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ServerTools, type ServerToolsOptions } from '../adapters/inbound/mcp/server-tools.ts';
import { GatewayMethods } from '../adapters/inbound/mcp/shared-methods.ts';
import { unmatchedGrant } from '../adapters/inbound/words/process-messages.ts';
import { leftOutMessage, notApprovedMessage } from '../adapters/inbound/words/server-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { DefinitionFiles } from '../adapters/outbound/definitions/definition-files.ts';
import { cacheFolder } from '../adapters/outbound/files/local-files.ts';
import { childEnvironment } from '../adapters/outbound/mcp-client/child-command.ts';
import { ChildToolServer } from '../adapters/outbound/mcp-client/child-tool-server.ts';
import { whenNeeded } from '../application/async/shared-runs.ts';
import { Gateway } from '../application/gateway/gateway.ts';
import { planServer, type Starts } from '../application/gateway/server-definition.ts';
import { type ToolNotice, ToolNotices } from '../application/gateway/tool-notices.ts';
import type { Logger } from '../application/ports/services.ts';
import type { KeptDefinitions, OnListChanged, ToolServer } from '../application/ports/tool-server.ts';
import { OpenCalls } from '../application/tools/open-calls.ts';
import type { ApprovedTools } from '../domain/gateway/approved-tools.ts';
import type { LoginUse } from '../domain/gateway/login-owner.ts';
import type { JsonObject } from '../domain/values/json.ts';
import { toDescribed } from './described-servers.ts';
import type { RemoteOptions } from './logins.ts';
import type { RemoteServers } from './remote-servers.ts';
import { commandForClients, IDENTITY, PROGRAM, type Runtime } from './runtime.ts';
import { type RenewValues, serversWithValues } from './server-values.ts';

/** A gateway with started servers, and functions that change and close it. */
export type ComposedGateway = Awaited<ReturnType<typeof composeGateway>>;

export interface GatewayOptions extends RemoteOptions {
  readonly servers: readonly ServerEntry[];
  readonly onToolsChanged?: () => void;
  readonly onListChanged?: OnListChanged | undefined;
  /** Returns what callers can be asked, when a server starts (MCP, client capabilities). */
  readonly declared?: () => JsonObject;
  /** Whether callers share the servers. */
  readonly isShared?: boolean;
  /** Which servers start with the gateway. Default: `at_once`. */
  readonly starts?: Starts;
  /** Logs the start of a process. */
  readonly logSpawn: (line: string) => void;
  /** Logs what happens to servers. Default: the logger of the program. */
  readonly logger?: Logger;
}

/** Composes the gateway, and starts the servers that start with it. */
export async function composeGateway(runtime: Runtime, options: GatewayOptions) {
  const { config, clock } = runtime;
  const { starts = 'at_once', logger = runtime.logger, onToolsChanged } = options;
  const ending = new AbortController();
  const toolServers = createToolServers(runtime, options, ending.signal);
  const kept = keptDefinitions(runtime);
  const toConfigured = (servers: readonly ServerEntry[], approved: ApprovedTools | undefined) => {
    const toServer = (entry: ServerEntry, use: LoginUse) =>
      entry.values === undefined
        ? madeAtStart(() => toolServers.create({ entry, use }))
        : toolServers.withValues(entry, use);
    const described = servers.map((entry) => toDescribed(entry, toServer, { ...options, ...runtime }));
    return Promise.all(described.map((one) => planServer(one, { ...runtime, starts, kept, approved })));
  };
  const { get: validator } = whenNeeded(async () => {
    const { AjvSchemaValidator } = await import('../adapters/outbound/mcp-client/ajv-schema-validator.ts');
    return new AjvSchemaValidator(runtime.logger);
  });
  const gateway = new Gateway({
    clock,
    logger,
    validator,
    servers: await toConfigured(options.servers, config.lock?.approved),
    approved: config.lock?.approved,
    drainMs: config.http?.drainMs ?? 0,
    onListChanged: options.onListChanged,
    isShared: options.isShared,
  });
  const notices = new ToolNotices(gateway, () => runtime.rights.policy);
  const warn = () => {
    for (const notice of notices.take()) logger.warn(toWarning(notice, runtime.startCommand));
  };
  gateway.onToolsChanged(warn);
  if (onToolsChanged !== undefined) gateway.onToolsChanged(onToolsChanged);
  return {
    gateway,
    /** Warns about tools that `access` or the lock no longer match. A change of tools does this by itself. */
    warn,
    /** Whether a server is configured as public at the time of the call. */
    isPublic: (server: string) => gateway.isPublic(server),
    /** The login of a machine to a server, if it has a token. */
    machineLogin: toolServers.machineLogin,
    /** Replaces the servers and the approved tools. If it rejects, nothing was changed. */
    reconfigure: async (configured: readonly ServerEntry[], approved: ApprovedTools | undefined) => {
      gateway.reconfigure(await toConfigured(configured, approved), approved);
    },
    /** Ends the servers at once, without waiting for their calls. */
    end: () => {
      ending.abort();
      void gateway.close();
    },
    /** Resolves when no process and no connection is left. */
    close: async () => {
      await gateway.close();
      await toolServers.close();
    },
  };
}

export type ServedOptions = Omit<ServerToolsOptions, 'expose' | 'always' | 'ownCommand' | 'openCalls'>;

/** What MCP clients see of the servers, as `gateway.expose` says: tools, resources, prompts, and calls that wait for an answer of the caller. */
export function exposeServers(runtime: Runtime, served: ServedOptions) {
  const openCalls = new OpenCalls({ ...runtime, newState, digest });
  const options = { ...served, ...runtime.config.gateway, openCalls, ownCommand: commandForClients(runtime) };
  const shared = new GatewayMethods({ ...options, isSession: served.notifiesOfChanges });
  return { servers: new ServerTools(options), shared, openCalls };
}

/** 256 random bits, so that the state of another caller's call cannot be guessed. */
const newState = () => randomBytes(32).toString('base64url');
const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

interface Made {
  readonly entry: ServerEntry;
  readonly renew?: RenewValues | undefined;
  /** Whose login is used. */
  readonly use: LoginUse;
}

/** Makes servers of entries of the configuration. `programEnds` aborts when the program ends, and its servers must end soon. */
function createToolServers(
  runtime: Runtime,
  { logSpawn, declared, ...options }: Pick<GatewayOptions, 'logSpawn' | 'declared' | keyof RemoteOptions>,
  programEnds: AbortSignal,
) {
  const { config, clock, logger } = runtime;
  let remote: Promise<RemoteServers> | undefined;
  /** `renew`: reads the values of the entry once more. */
  const create = async ({ entry, renew, use }: Made): Promise<ToolServer> => {
    const { name, connection, maxResponseBytes: maxBytes, forwardBaggage } = entry;
    const common = { name, maxBytes, forwardBaggage, clock, logger, identity: IDENTITY, declared };
    if (connection.kind === 'remote') {
      remote ??= import('./remote-servers.ts').then((module) => module.createRemoteServers(runtime, options));
      return (await remote).create({ ...connection, ...common, renew, use });
    }
    const { envs, inheritEnv: inherit, notInherited = [] } = connection;
    const ownSecrets = [...config.secretVariables, ...notInherited];
    const env = childEnvironment({ environment: process.env, inherit, envs, ownSecrets });
    return new ChildToolServer({ ...connection, ...common, env, logSpawn, programEnds });
  };
  return {
    create,
    withValues: serversWithValues(runtime, create),
    machineLogin: async (server: string) => (await remote)?.machineLogin(server),
    close: async () => (await remote)?.close(),
  };
}

function toWarning(notice: ToolNotice, startCommand: Runtime['startCommand']): string {
  if (notice.kind === 'unmatched_grant') return unmatchedGrant(notice);
  if (notice.kind === 'left_out') return `gateway: ${notice.server}: ${leftOutMessage(notice.leftOut)}`;
  return `gateway: ${notice.server}: ${notApprovedMessage(notice.tools, startCommand())}`;
}

/** The kept descriptions of servers; undefined if this user has no cache folder. */
function keptDefinitions(runtime: Runtime): KeptDefinitions | undefined {
  const folder = cacheFolder(process.env);
  return folder === undefined ? undefined : new DefinitionFiles(join(folder, PROGRAM, 'servers'), runtime);
}

/** A server that is created at its first start, because a reload describes all servers again, but uses only those that changed. */
function madeAtStart(make: () => Promise<ToolServer>): ToolServer {
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
