import { doctor, doctorOffline } from '../adapters/inbound/cli/doctor.ts';
import type { CheckedLogin } from '../adapters/inbound/cli/doctor-checks.ts';
import type { ConfiguredServer } from '../adapters/inbound/cli/offline-checks.ts';
import type { CommandContext } from '../adapters/inbound/cli/terminal.ts';
import { probeAuditFile } from '../adapters/outbound/audit/audit-file.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { kindOf } from '../adapters/outbound/login/login-kinds.ts';
import { childEnvironment, commandProblem } from '../adapters/outbound/mcp-client/child-command.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import type { Application } from '../application/answers/application.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import { checkedOAuth, checkedQuota } from './callers.ts';
import type { ComposedGateway } from './gateway.ts';
import type { Runtime } from './runtime.ts';

interface Checked {
  readonly application: Application;
  /** Undefined if no servers are configured. */
  readonly composed: ComposedGateway | undefined;
}

/** Checks the setup for a person, and prints each step. */
export async function runDoctor(
  json: boolean,
  context: Runtime & CommandContext,
  { application, composed }: Checked,
  signal: AbortSignal,
): Promise<number> {
  const { config } = context;
  const { openai, llm, server, grounding, access, audit, lock, quota } = config;
  const { apiKeyVariable: variable, apiKey: value, isKeyFileShared: isShared } = openai;
  const { oauth, problems } = config.readOAuth();
  const oauthProblems = problems.length > 0 ? problems : undefined;
  return doctor(
    {
      ...context,
      notices: config.notices,
      profiles: config.profiles,
      application,
      json,
      configSources: describeSources(config.sources),
      apiKey: { variable, value, isShared },
      isOffline: llm.adapter === 'offline',
      isUnencrypted: isUnencrypted(openai.baseUrl),
      gateway: composed?.gateway,
      grounding,
      access,
      approved: lock?.approved,
      audit: audit && { ...audit, probe: () => probeAuditFile(audit.file) },
      quota: quota && checkedQuota(quota, context),
      oauth: oauth === undefined ? oauthProblems : checkedOAuth(oauth, context),
      readLogins: () => checkedLogins(context, composed),
      toolErrors: server.toolErrors,
      isOpenToMachine: await config.isOpenToMachine(),
    },
    signal,
  );
}

/** Checks the setup without a request, a key and a server. `unset` are the variables that the configuration names and that are not set. */
export async function runOfflineDoctor(
  json: boolean,
  context: Runtime & CommandContext,
  unset: readonly ConfigProblem[],
): Promise<number> {
  const { config } = context;
  const { openai, server, access, audit, lock, quota, http } = config;
  return doctorOffline({
    ...context,
    notices: config.notices,
    profiles: config.profiles,
    tokenCallers: config.tokenCallers,
    json,
    unset,
    configSources: describeSources(config.sources),
    apiKey: { variable: openai.apiKeyVariable, value: openai.apiKey },
    servers: config.servers?.map((entry) => toConfigured(entry, config)),
    issuer: http?.oauth?.issuer,
    access,
    approved: lock?.approved,
    audit: audit && { ...audit, probe: () => probeAuditFile(audit.file) },
    quota: quota && checkedQuota(quota, context),
    toolErrors: server.toolErrors,
    isOpenToMachine: await config.isOpenToMachine(),
  });
}

/** A server without its process: the host that it would ask, or whether its command exists. */
function toConfigured(entry: ServerEntry, { secretVariables }: Runtime['config']): ConfiguredServer {
  const { name, connection } = entry;
  const unset = entry.unset?.find((key) => DECISIVE.includes(key));
  if (unset !== undefined) return { name, unset };
  if (connection.kind === 'remote') return { name, host: new URL(connection.url).host };
  const { command, cwd, envs, inheritEnv } = connection;
  const env = childEnvironment({ environment: process.env, inherit: inheritEnv, envs, ownSecrets: secretVariables });
  return { name, command, problem: commandProblem({ command, cwd, env }) };
}

/** The keys with variables that decide where a server is. */
const DECISIVE: readonly string[] = ['url', 'command', 'envs.PATH', 'env.PATH'];

/** The logins, and the servers that sign in by themselves, in their order. */
async function checkedLogins(runtime: Runtime, gateway: ComposedGateway | undefined): Promise<readonly CheckedLogin[]> {
  const { servers = [] } = runtime.config;
  if (servers.every(({ connection }) => connection.kind === 'child')) return [];
  const { composeLogins } = await import('./logins.ts');
  const logins = await composeLogins(runtime).list();
  const toLogins = async ({ name, connection }: ServerEntry): Promise<readonly CheckedLogin[]> => {
    const { auth } = connection.kind === 'remote' ? connection : {};
    if (auth === undefined || kindOf(auth) === 'person') return logins.filter(({ server }) => server === name);
    const { grant, clientId } = auth;
    return [{ server: name, grant, clientId, login: await gateway?.machineLogin(name) }];
  };
  return (await Promise.all(servers.map(toLogins))).flat();
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}
