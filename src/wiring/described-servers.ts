import { LOGIN_MESSAGES, loginPath } from '../adapters/inbound/words/server-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { lastChangeMs } from '../adapters/outbound/definitions/definition-files.ts';
import { isAlive } from '../adapters/outbound/login/login.ts';
import { LoginFiles } from '../adapters/outbound/login/login-files.ts';
import type { DescribedServer } from '../application/gateway/server-definition.ts';
import type { ToolServer } from '../application/ports/tool-server.ts';
import { LOCAL_OWNER, type LoginUse } from '../domain/gateway/login-owner.ts';
import type { JsonObject } from '../domain/values/json.ts';
import type { Runtime } from './runtime.ts';

type Described = Pick<Runtime, 'config' | 'clock' | 'loginsKey'> & {
  /** The origin under which browsers reach this program; undefined unless HTTP is served. */
  readonly publicUrl?: (() => string | undefined) | undefined;
  /** Whether callers share this program. */
  readonly isShared?: boolean | undefined;
  /** What callers can be asked: some servers list a tool that asks only to clients that declare it. */
  readonly declared?: (() => JsonObject) | undefined;
};

/** What the gateway needs to know of a server of the configuration. `toServer` makes the server for whose login is used. */
export function toDescribed(
  entry: ServerEntry,
  toServer: (entry: ServerEntry, use: LoginUse) => ToolServer,
  { config, clock, loginsKey, publicUrl, isShared = false, declared = () => ({}) }: Described,
): DescribedServer {
  const { connection, start, login, maxConnections, ...definition } = entry;
  const transport = connection.kind === 'child' ? 'stdio' : connection.transport === 'sse' ? 'sse' : 'http';
  const files = new LoginFiles(config.gateway.logins, clock, { key: loginsKey });
  const isPerCaller = login === 'per_caller';
  // The user of this machine is the only caller of a program that callers do not share.
  const use = isPerCaller ? LOCAL_OWNER : 'shared';
  const described = {
    fingerprint: JSON.stringify(entry),
    server: toServer(entry, use),
    changedMs: async () => (connection.kind === 'child' ? lastChangeMs(connection) : 0),
  };
  const key = async () => JSON.stringify([await keyOf(entry, files, use), declared()]);
  if (!isPerCaller || !isShared || connection.kind === 'child')
    return { ...described, definition: { ...definition, start, transport }, key };
  const { name } = entry;
  const loginUrl = loginUrlOf(name, publicUrl?.());
  return {
    ...described,
    // Connections begin with requests of callers.
    definition: { ...definition, start: 'on_use', transport, loginUrl },
    key: async () => JSON.stringify([name, connection, 'per_caller', declared()]),
    perCaller: {
      maxConnections,
      signInWords: (caller) => LOGIN_MESSAGES.signInAs(name, caller),
      serverFor: (owner) => toServer(entry, owner),
      loginId: async (owner) => {
        const login = await files.read({ url: connection.url, use: owner });
        return login !== undefined && isAlive(login, clock) ? login.id : undefined;
      },
    },
  };
}

/** Where the callers of an endpoint sign in to a server; undefined if browsers cannot reach the endpoint. */
export function loginUrlOf(server: string, publicUrl: string | undefined): string | undefined {
  return publicUrl && new URL(loginPath(server), publicUrl).href;
}

/** What of an entry can change the lists of its server: the connection, inherited variables, and the login. */
async function keyOf({ name, connection }: ServerEntry, files: LoginFiles, use: LoginUse): Promise<string> {
  if (connection.kind === 'remote')
    return JSON.stringify([name, connection, (await files.read({ url: connection.url, use }))?.id]);
  const { inheritEnv } = connection;
  const inherited = inheritEnv === true ? [] : inheritEnv.map((variable) => process.env[variable] ?? null);
  return JSON.stringify([name, connection, inherited]);
}
