import { err } from 'neverthrow';
import { callAndPrint, readInput } from '../adapters/inbound/cli/call-tool.ts';
import type { Command } from '../adapters/inbound/cli/command-line.ts';
import { listLogins, login, logout, typedLines } from '../adapters/inbound/cli/logins.ts';
import type { CommandContext } from '../adapters/inbound/cli/terminal.ts';
import { listTools, lockTools } from '../adapters/inbound/cli/tools.ts';
import { BAD_USAGE, INTERRUPTED } from '../adapters/inbound/exit-codes.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { toolErrorMessage } from '../adapters/inbound/words/tool-error-messages.ts';
import { filesOfClientsIn } from '../adapters/outbound/config/client-file.ts';
import { replaceFile } from '../adapters/outbound/files/written-files.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { Logger } from '../application/ports/services.ts';
import { ToolCatalogue } from '../application/tools/tool-catalogue.ts';
import { type CallOrigin, mayUseName } from '../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../domain/gateway/gateway-tool.ts';
import { unknownServer } from '../domain/gateway/tool-call-error.ts';
import { toOffer } from '../domain/grounded/grounding.ts';
import { composeCatalogue } from './catalogue.ts';
import { type Runtime, withAudit } from './runtime.ts';

export type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** The parts of the program that every command uses. */
export interface Context extends Runtime, CommandContext {
  /** The person who runs the command. */
  readonly by: CallOrigin;
}

/** Shows, approves or compares the tools of the servers. */
export async function runTools(command: CommandOf<'tools'>, context: Context, signal: AbortSignal): Promise<number> {
  const { json, action, server, tool, isFresh } = command;
  const { by, config, err, redactor } = context;
  if (action !== undefined && config.lock === undefined) {
    err.write(PROCESS.badUsage({ problem: PROCESS.noLock(action) }, context.ownCommand));
    return BAD_USAGE;
  }
  const { sees } = by.rights;
  const names = (config.servers ?? []).map(({ name }) => name);
  const isNoneAllowed = names.length > 0 && !names.some(sees);
  if (server !== undefined && !names.filter(sees).includes(server)) {
    err.write(`${redactor.inLogs(toolErrorMessage(unknownServer(server, names, by.rights)))}\n`);
    return BAD_USAGE;
  }
  const isShown = (name: string) => sees(name) && (server === undefined || name === server);
  const starts = isFresh || action !== undefined ? 'all' : 'unknown';
  const { gateway } = await startServers(context, starts, action === undefined ? isShown : undefined);
  if (action !== undefined && config.lock !== undefined) {
    return lockTools({ ...context, ...config.lock, action, json, gateway, save: replaceFile }, signal);
  }
  const shown = {
    files: config.serversFiles.map(({ servers, ...file }) => ({ ...file, servers: servers.filter(isShown) })),
  };
  const unused = config.servers === undefined ? filesOfClientsIn(process.cwd()) : [];
  const options = { json, tool, isNoneAllowed, gateway: gateway?.as(by.rights), offered: offeredBy(context), unused };
  return listTools({ ...context, ...options, ...shown }, signal);
}

/** Calls one tool of one server. */
export async function runCall(command: CommandOf<'call'>, context: Context, signal: AbortSignal): Promise<number> {
  const { server, tool, input, json } = command;
  const { config, err: errors, by } = context;
  const args = await readInput(input, signal);
  if (signal.aborted) return INTERRUPTED;
  if (args.isErr()) {
    errors.write(`${args.error}\n`);
    return BAD_USAGE;
  }
  const isUsed = (name: string) => name === server && mayUseName(by.rights, server, tool);
  const { gateway } = await startServers(context, 'all', isUsed);
  const catalogue = new ToolCatalogue({
    ...withAudit(context),
    configured: (config.servers ?? []).map(({ name }) => name),
    providers: () => (gateway === undefined ? [] : [gateway]),
  });
  return callAndPrint({ ...context, gateway, catalogue, server, tool, args: args.value, json }, signal);
}

/** Signs in, signs out, or lists the logins. Starts no server. */
export async function runLogins(
  command: CommandOf<'login' | 'logins' | 'logout'>,
  context: Context,
  signal: AbortSignal,
): Promise<number> {
  const { browserOf, composeLogins, whyNoLogin } = await import('./logins.ts');
  const { config, err } = context;
  const servers = new Map((config.servers ?? []).map((server) => [server.name, whyNoLogin(server)]));
  const options = { ...context, logins: composeLogins(context), servers };
  if (command.kind === 'logins') return listLogins({ ...options, ...command });
  if (command.kind === 'logout') return logout({ ...options, ...command }, signal);
  const lines = typedLines(process.stdin, () => process.emit('SIGINT'));
  const hasBrowser = err.isTTY === true && !command.noBrowser;
  return login({ ...options, ...command, lines, openBrowser: hasBrowser ? browserOf(context) : undefined }, signal);
}

/** Composes the configured servers, or only the used ones. The gateway is undefined without servers. */
export async function startServers(
  context: Context,
  starts: 'all' | 'unknown',
  isUsed: (server: string) => boolean = () => true,
) {
  const { config, logger } = context;
  const servers = (config.servers ?? []).filter(({ name }) => isUsed(name));
  const debug = (line: string) => logger.debug(line);
  const quiet: Logger = { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) };
  // No tool is called for a model.
  const call: AnswerGateway['call'] = async () => err({ kind: 'cancelled' });
  const composed = composeCatalogue(context, { servers, starts, logSpawn: debug, logger: quiet, call });
  const gateway = servers.length === 0 ? undefined : await composed.startGateway();
  return { ...composed, composed: gateway, gateway: gateway?.gateway };
}

/** The names of the tools that are offered to the model in answers. */
function offeredBy({ config }: Runtime): (tools: readonly GatewayTool[]) => readonly string[] {
  const { grounding } = config;
  if (grounding === undefined) return () => [];
  return (tools) => toOffer(tools, grounding).functions.map(({ tool }) => `${tool.server}/${tool.name}`);
}
