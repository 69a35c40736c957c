import { err } from 'neverthrow';
import { readInput } from '../adapters/inbound/cli/call-input.ts';
import type { SaveFile } from '../adapters/inbound/cli/call-result.ts';
import { callRunning, DEFAULT_TOKEN, listRunning, type RunningOptions } from '../adapters/inbound/cli/call-running.ts';
import { callAndPrint, refuseInput } from '../adapters/inbound/cli/call-tool.ts';
import type { Command } from '../adapters/inbound/cli/command.ts';
import { listLogins, login, logout, typedLines } from '../adapters/inbound/cli/logins.ts';
import { type CommandContext, reportFailure, say } from '../adapters/inbound/cli/terminal.ts';
import { terminalAsker } from '../adapters/inbound/cli/terminal-asker.ts';
import { listTools, lockTools } from '../adapters/inbound/cli/tools.ts';
import { readTypedLines } from '../adapters/inbound/cli/typed-lines.ts';
import { BAD_USAGE, FAILED, INTERRUPTED } from '../adapters/inbound/exit-codes.ts';
import { ofToolCallError } from '../adapters/inbound/http/refusal.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { RUNNING } from '../adapters/inbound/words/server-messages.ts';
import { filesOfClientsIn } from '../adapters/outbound/config/client-file.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { writeNumbered } from '../adapters/outbound/files/numbered-files.ts';
import { replaceFile } from '../adapters/outbound/files/written-files.ts';
import { createProxyFetch } from '../adapters/outbound/network/proxy-fetch.ts';
import { createRunningGateway } from '../adapters/outbound/network/running-gateway.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { Logger } from '../application/ports/services.ts';
import type { LoginSummary } from '../application/ports/tool-server.ts';
import { ToolCatalogue } from '../application/tools/tool-catalogue.ts';
import { type CallOrigin, LOCAL_CALLER, mayUseName } from '../domain/gateway/call-origin.ts';
import { ASKABLE, type Asker } from '../domain/gateway/elicitation.ts';
import type { GatewayTool } from '../domain/gateway/gateway-tool.ts';
import { ownerName } from '../domain/gateway/login-owner.ts';
import { unknownServer } from '../domain/gateway/tool-call-error.ts';
import { mayHaveHash } from '../domain/gateway/unique-names.ts';
import { toOffer } from '../domain/grounded/grounding.ts';
import { withoutUnsafeCharacters } from '../domain/values/clean-text.ts';
import type { JsonObject } from '../domain/values/json.ts';
import { composeCatalogue } from './catalogue.ts';
import { type Runtime, withAudit } from './runtime.ts';
import { completeEntry } from './server-values.ts';

export type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** The parts of the program that every command uses. */
export interface Context extends Runtime, CommandContext {
  /** The person who runs the command. */
  readonly by: CallOrigin;
}

/** Shows, approves or compares the tools of the servers. */
export async function runTools(command: CommandOf<'tools'>, context: Context, signal: AbortSignal): Promise<number> {
  const { json, action, server, tool, isFresh, url } = command;
  const { by, config } = context;
  if (url !== undefined) {
    const use = (options: RunningOptions) => listRunning({ ...context, ...options, json, server, tool }, signal);
    return useRunning(url, command.tokenVariable, { ...context, json }, use);
  }
  if (action !== undefined && config.lock === undefined) {
    const problem = PROCESS.noLock(action);
    const failure = { code: 'CONFIGURATION_ERROR', message: problem };
    reportFailure({ ...context, json }, failure, PROCESS.badUsage({ problem, topic: 'tools' }, context.ownCommand));
    return BAD_USAGE;
  }
  const { sees } = by.rights;
  const names = (config.servers ?? []).map(({ name }) => name);
  const isNoneAllowed = names.length > 0 && !names.some(sees);
  if (server !== undefined && !names.filter(sees).includes(server)) {
    reportFailure({ ...context, json }, ofToolCallError(unknownServer(server, names, by.rights)));
    return BAD_USAGE;
  }
  const isShown = (name: string) => sees(name) && (server === undefined || name === server);
  const starts = isFresh || action !== undefined ? 'all' : 'unknown';
  const isUsed = action === undefined ? isShown : undefined;
  // The lock is for all callers.
  const declared = action === undefined ? askableAt(context) : ASKABLE;
  const { gateway } = await startServers(context, starts, { isUsed, declared });
  if (action !== undefined && config.lock !== undefined) {
    return lockTools({ ...context, ...config.lock, action, json, gateway, save: replaceFile }, signal);
  }
  const shown = {
    files: config.serversFiles.map(({ servers, ...file }) => ({ ...file, servers: servers.filter(isShown) })),
  };
  const unused = config.servers === undefined ? filesOfClientsIn(process.cwd()) : [];
  const options = { json, tool, isNoneAllowed, gateway: gateway?.as(by), offered: offeredBy(context), unused };
  return listTools({ ...context, ...options, ...shown }, signal);
}

/** Calls one tool of one server, or of a gateway that runs already. */
export async function runCall(command: CommandOf<'call'>, context: Context, signal: AbortSignal): Promise<number> {
  const { server, tool, json, timeoutMs, url } = command;
  const { config, by } = context;
  const folder = command.save;
  const save: SaveFile | undefined = folder === undefined ? undefined : (...file) => writeNumbered(folder, ...file);
  const read = await readInput(command.input, signal);
  if (signal.aborted) return INTERRUPTED;
  const options = { ...context, json, server, tool, save };
  if (read.isErr()) return refuseInput(read.error, options);
  const input = read.value;
  if (url !== undefined) {
    const use = (running: RunningOptions) => callRunning({ ...options, ...running, input, timeoutMs }, signal);
    return useRunning(url, command.tokenVariable, options, use);
  }
  const isUsed = (name: string) => name === server && (mayHaveHash(tool) || mayUseName(by.rights, server, tool));
  const servers = (config.servers ?? []).map((entry) =>
    entry.name === server && timeoutMs !== undefined ? { ...entry, timeoutMs } : entry,
  );
  const limited = config.servers === undefined ? context : { ...context, config: { ...config, servers } };
  const asker = command.noInput ? undefined : askerAt(process.stdin, context);
  const { gateway } = await startServers(limited, 'all', { isUsed, declared: asker?.declared });
  const catalogue = new ToolCatalogue({
    ...(await withAudit(context)),
    configured: servers.map(({ name }) => name),
    providers: () => (gateway === undefined ? [] : [gateway]),
  });
  return callAndPrint({ ...options, by, input, gateway, catalogue, asker }, signal);
}

/** What a person can be asked who calls a tool here. */
export function askableAt(context: Context): JsonObject | undefined {
  return askerAt(process.stdin, context)?.declared;
}

/** Asks the person at the terminal; undefined in a script, where no person types. */
function askerAt(input: NodeJS.ReadStream, context: Context): Asker | undefined {
  const { err, redactor } = context;
  if (input.isTTY !== true || err.isTTY !== true) return undefined;
  const ask = (line: string) => say(withoutUnsafeCharacters(redactor.anywhere(line)), context);
  return terminalAsker({ say: ask, open: (signal) => readTypedLines({ input, output: process.stderr }, signal) });
}

/** Uses a running gateway, which has its own limits and servers. */
async function useRunning(
  url: string,
  variable: string | undefined,
  options: Context & { readonly json: boolean },
  use: (running: RunningOptions) => Promise<number>,
): Promise<number> {
  const tokenVariable = variable ?? DEFAULT_TOKEN;
  const token = process.env[tokenVariable]?.trim() || undefined;
  if (token === undefined && variable !== undefined) return refuseInput(RUNNING.noToken(variable), options);
  if (token !== undefined) options.redactor.learn({ own: [token] });
  const { fetch, close } = createProxyFetch(process.env, { headersTimeout: 0, bodyTimeout: 0 });
  const running = createRunningGateway(url, token, fetch);
  return use({ running, tokenVariable }).finally(close);
}

/** Signs in, signs out, or lists the logins. Starts no server. */
export async function runLogins(
  command: CommandOf<'login' | 'logins' | 'logout'>,
  context: Context,
  signal: AbortSignal,
): Promise<number> {
  const { browserOf, composeLogins, whyNoLogin } = await import('./logins.ts');
  const { config, redactor } = context;
  // Without a name, the logins of a caller to all servers end.
  const isUsed = ({ name }: ServerEntry) => command.kind !== 'logins' && (command.server ?? name) === name;
  const entries: ServerEntry[] = [];
  for (const entry of config.servers ?? []) {
    const completed = isUsed(entry) ? await completeEntry(entry, context.values, 'kept', signal) : undefined;
    if (completed?.isErr()) {
      say(redactor.inLogs(`${entry.name}: ${completed.error}`), context);
      return FAILED;
    }
    entries.push(completed?.isOk() ? completed.value.entry : entry);
  }
  const servers = new Map(entries.map((server) => [server.name, whyNoLogin(server)]));
  const logins = composeLogins({ ...context, config: { ...config, servers: entries } });
  const options = { ...context, logins, servers };
  if (command.kind === 'logins') return listLogins({ ...options, ...command });
  if (command.kind === 'logout') {
    const { audit } = command.caller === undefined ? {} : await withAudit(context);
    const onEnded = ({ server, owner, scopes }: LoginSummary, isDone: boolean) =>
      audit?.note({
        event: 'logout',
        outcome: isDone ? 'done' : 'failed',
        caller: owner ? ownerName(owner) : LOCAL_CALLER,
        server,
        scopes,
      });
    return logout({ ...options, ...command, onEnded }, signal);
  }
  const lines = typedLines(process.stdin, () => process.emit('SIGINT'));
  const hasBrowser = context.err.isTTY === true && !command.noBrowser;
  return login({ ...options, ...command, lines, openBrowser: hasBrowser ? browserOf(context) : undefined }, signal);
}

interface StartedServers {
  /** Default: all servers. */
  readonly isUsed?: ((server: string) => boolean) | undefined;
  /** What the person can be asked during a call (MCP, client capabilities). */
  readonly declared?: JsonObject | undefined;
}

/** Composes the configured servers, or only the used ones. The gateway is undefined without servers. */
export async function startServers(
  context: Context,
  starts: 'all' | 'unknown',
  { isUsed = () => true, declared = {} }: StartedServers,
) {
  const { config, logger } = context;
  const servers = (config.servers ?? []).filter(({ name }) => isUsed(name));
  const debug = (line: string) => logger.debug(line);
  const quiet: Logger = { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) };
  // No tool is called for a model.
  const call: AnswerGateway['call'] = async () => err({ kind: 'cancelled' });
  const composed = composeCatalogue(context, {
    servers,
    starts,
    declared: () => declared,
    logSpawn: debug,
    logger: quiet,
    call,
  });
  const gateway = servers.length === 0 ? undefined : await composed.startGateway();
  return { ...composed, composed: gateway, gateway: gateway?.gateway };
}

/** The names of the tools that are offered to the model in answers. */
function offeredBy({ config }: Runtime): (tools: readonly GatewayTool[]) => readonly string[] {
  const { grounding } = config;
  if (grounding === undefined) return () => [];
  return (tools) => toOffer(tools, grounding).functions.map(({ tool }) => `${tool.server}/${tool.name}`);
}
