import { text } from 'node:stream/consumers';
import { err } from 'neverthrow';
import { ask } from '../adapters/inbound/cli/ask.ts';
import { readInput } from '../adapters/inbound/cli/call-input.ts';
import { callTool } from '../adapters/inbound/cli/call-tool.ts';
import type { CommandContext } from '../adapters/inbound/cli/command-context.ts';
import { type Command, QUESTION_REQUIRED } from '../adapters/inbound/cli/command-line.ts';
import { doctor } from '../adapters/inbound/cli/doctor.ts';
import type { CheckedLogin } from '../adapters/inbound/cli/doctor-checks.ts';
import { listTools } from '../adapters/inbound/cli/list-tools.ts';
import { BAD_USAGE, INTERRUPTED } from '../adapters/inbound/exit-codes.ts';
import { withAdvice } from '../adapters/inbound/words/advised-commands.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { toolErrorMessage } from '../adapters/inbound/words/tool-error-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import { CANCELLED, untilAborted } from '../application/async/deadline.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import type { Logger } from '../application/ports/logger.ts';
import { ToolCatalogue } from '../application/tools/tool-catalogue.ts';
import { type CallOrigin, LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../domain/gateway/gateway-tool.ts';
import { toOffer } from '../domain/grounded/grounding.ts';
import { checkedAudit } from './audit.ts';
import { createCatalogue } from './catalogue.ts';
import { runCheck } from './check.ts';
import type { ComposedGateway } from './gateway.ts';
import { checkedQuota } from './quota.ts';
import { answerServers, type Runtime } from './runtime.ts';
import type { LoadServices } from './services.ts';

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
type LoginCommand = CommandOf<'login' | 'logins' | 'logout'>;
type RunnableCommand = LoginCommand | CommandOf<'ask' | 'check' | 'doctor' | 'tools' | 'call'>;

/** What every command uses. */
interface Context extends Runtime, CommandContext {
  /** The person who runs the command. */
  readonly by: CallOrigin;
  readonly load: LoadServices;
}

/** Runs a command for a person, who may interrupt it with Ctrl-C at any time, and returns the exit code. */
export async function runCommand(command: RunnableCommand, runtime: Runtime, load: LoadServices): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort(CANCELLED));
  const { stdout, stderr } = process;
  const out = (text: string) => stdout.write(text);
  const rights = runtime.rightsOf({ caller: LOCAL_CALLER });
  const by: CallOrigin = { caller: LOCAL_CALLER, door: 'cli', rights };
  const redactor = withAdvice(runtime.redactor, command.options);
  const context = { ...runtime, redactor, by, load, out, err: stderr, isTerminal: stdout.isTTY === true };
  const code = await run(command, context, signal);
  // However slow the reader of standard output is, it gets everything.
  await untilAborted(new Promise<void>((resolve) => stdout.write('', () => resolve())), signal);
  return signal.aborted ? INTERRUPTED : code;
}

async function run(command: RunnableCommand, context: Context, signal: AbortSignal): Promise<number> {
  switch (command.kind) {
    case 'ask':
      return runAsk(command, context, signal);
    case 'check':
      return runCheck(command, context, signal);
    case 'tools':
      return runTools(command, context, signal);
    case 'call':
      return runCall(command, context, signal);
    case 'doctor':
      return runDoctor(command.json, context, signal);
    default:
      return runLogins(command, context, signal);
  }
}

async function runAsk(command: CommandOf<'ask'>, context: Context, signal: AbortSignal): Promise<number> {
  const { load, config, logger, isTerminal, err, by } = context;
  const question = command.question ?? (await untilAborted(text(process.stdin), signal)).trim();
  if (signal.aborted) return INTERRUPTED;
  if (question === '') {
    err.write(PROCESS.badUsage(QUESTION_REQUIRED));
    return BAD_USAGE;
  }
  if (command.options['--check'] !== undefined && config.llm.adapter === 'offline') err.write(PROCESS.nothingChecked);
  const { columns } = process.stdout;
  // Node.js knows the variables that say whether there are styles, such as NO_COLOR and TERM.
  const terminal = isTerminal ? { columns: columns || 80, hasStyles: process.stdout.hasColors() } : undefined;
  let gateway: Gateway | undefined;
  const onStarted = (started: Gateway) => {
    gateway = started;
  };
  const servers = answerServers(config, by.rights);
  const services = () =>
    load({
      gateway: { servers, starts: 'on_use', logSpawn: (line) => logger.debug(line), onStarted },
      call: (call, signal) => catalogue.call(call, signal),
    });
  const { catalogue } = createCatalogue(context, { services, gateway: () => gateway });
  return ask({ ...context, ...command, catalogue, question, terminal }, signal);
}

async function runTools(command: CommandOf<'tools'>, context: Context, signal: AbortSignal): Promise<number> {
  const { json, action, server, tool, isFresh } = command;
  const { by, config, err, redactor } = context;
  if (action !== undefined && config.lock === undefined) {
    err.write(PROCESS.badUsage(PROCESS.noLock(action)));
    return BAD_USAGE;
  }
  const { sees } = by.rights;
  const known = (config.servers ?? []).map(({ name }) => name).filter(sees);
  if (server !== undefined && !known.includes(server)) {
    err.write(`${redactor.inLogs(toolErrorMessage({ kind: 'unknown_server', server, known }))}\n`);
    return BAD_USAGE;
  }
  const isShown = (name: string) => sees(name) && (server === undefined || name === server);
  const starts = isFresh || action !== undefined ? 'all' : 'unknown';
  const { gateway } = await startServers(context, starts, action === undefined ? isShown : undefined);
  if (action !== undefined && config.lock !== undefined) {
    const [{ lockTools }, { replaceFile }] = await Promise.all([
      import('../adapters/inbound/cli/lock-tools.ts'),
      import('../adapters/outbound/files/replace-file.ts'),
    ]);
    return lockTools({ ...context, ...config.lock, action, json, gateway, save: replaceFile }, signal);
  }
  const visible = gateway?.as(by.rights);
  return listTools({ ...context, json, tool, gateway: visible, offered: offeredBy(context) }, signal);
}

async function runDoctor(json: boolean, context: Context, signal: AbortSignal): Promise<number> {
  const { config } = context;
  const { openai, llm, server, grounding, access, audit, lock, quota } = config;
  const { apiKeyVariable: variable, apiKey: value, isKeyFileShared: isShared } = openai;
  const { oauth, problems } = config.readOAuth();
  const oauthProblems = problems.length > 0 ? problems : undefined;
  const { services, composed, gateway } = await startServers(context, 'all');
  return doctor(
    {
      ...context,
      ...config,
      application: await services.application(),
      json,
      configSources: describeSources(config.sources),
      apiKey: { variable, value, isShared },
      isOffline: llm.adapter === 'offline',
      isUnencrypted: isUnencrypted(openai.baseUrl),
      gateway,
      grounding,
      access,
      approved: lock?.approved,
      audit: audit && checkedAudit(audit),
      quota: quota && checkedQuota(quota, context),
      oauth: oauth === undefined ? oauthProblems : (await import('./oauth.ts')).checkedOAuth(oauth, context),
      readLogins: () => checkedLogins(context, composed),
      toolErrors: server.toolErrors,
    },
    signal,
  );
}

/** The logins, and the servers that sign in by themselves, in their order. */
async function checkedLogins(runtime: Runtime, gateway: ComposedGateway | undefined): Promise<readonly CheckedLogin[]> {
  const { servers = [] } = runtime.config;
  if (servers.every(({ connection }) => connection.kind === 'child')) return [];
  const { composeLogins } = await import('./logins.ts');
  const logins = await composeLogins(runtime).list();
  const toLogins = async ({ name, connection }: ServerEntry): Promise<readonly CheckedLogin[]> => {
    const { auth } = connection.kind === 'remote' ? connection : {};
    if (auth?.grant !== 'client_credentials') return logins.filter(({ server }) => server === name);
    return [{ server: name, clientId: auth.clientId, login: await gateway?.machineLogin(name) }];
  };
  return (await Promise.all(servers.map(toLogins))).flat();
}

/** The names of the tools that are offered to the model in answers. */
function offeredBy({ config }: Runtime): (tools: readonly GatewayTool[]) => readonly string[] {
  const { grounding } = config;
  if (grounding === undefined) return () => [];
  return (tools) => toOffer(tools, grounding).functions.map(({ tool }) => `${tool.server}/${tool.name}`);
}

/** Composes the configured servers, or only those that are used. Each starts at most once: a person waits for the outcome. The gateway is undefined if there are none. */
async function startServers(
  { config, logger, load }: Context,
  starts: 'all' | 'unknown',
  isUsed: (server: string) => boolean = () => true,
) {
  const servers = (config.servers ?? []).filter(({ name }) => isUsed(name));
  const debug = (line: string) => logger.debug(line);
  const quiet: Logger = { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) };
  const once = servers.map((server) => ({ ...server, restart: 'never' as const }));
  const call: AnswerGateway['call'] = async () => err({ kind: 'cancelled' });
  const services = await load({ gateway: { servers: once, starts, logSpawn: debug, logger: quiet }, call });
  const composed = servers.length === 0 ? undefined : await services.gateway();
  return { services, composed, gateway: composed?.gateway };
}

async function runCall(command: CommandOf<'call'>, context: Context, signal: AbortSignal): Promise<number> {
  const { server, tool, input, json } = command;
  const { config, err: errors, by } = context;
  const args = await readInput(input, signal);
  if (signal.aborted) return INTERRUPTED;
  if (args.isErr()) {
    errors.write(`${args.error}\n`);
    return BAD_USAGE;
  }
  const isUsed = (name: string) => name === server && by.rights.sees(name);
  const { gateway } = await startServers(context, 'all', isUsed);
  const catalogue = new ToolCatalogue({
    ...context,
    configured: (config.servers ?? []).map(({ name }) => name),
    providers: () => (gateway === undefined ? [] : [gateway]),
  });
  return callTool({ ...context, gateway, catalogue, server, tool, args: args.value, json }, signal);
}

/** Starts no server. */
async function runLogins(command: LoginCommand, context: Context, signal: AbortSignal): Promise<number> {
  const [{ composeLogins, whyNoLogin }, { listLogins, login, logout }] = await Promise.all([
    import('./logins.ts'),
    import('../adapters/inbound/cli/logins.ts'),
  ]);
  const { config, err } = context;
  const servers = new Map((config.servers ?? []).map((server) => [server.name, whyNoLogin(server)]));
  const options = { ...context, logins: composeLogins(context), servers };
  if (command.kind === 'logins') return listLogins({ ...options, ...command });
  if (command.kind === 'logout') return logout({ ...options, ...command }, signal);
  const [{ openBrowser }, { typedLines }] = await Promise.all([
    import('../adapters/outbound/login/browser.ts'),
    import('../adapters/inbound/cli/typed-lines.ts'),
  ]);
  const open = (url: string) => openBrowser(url, process.env, config.secretVariables);
  const lines = typedLines(process.stdin, () => process.emit('SIGINT'));
  const hasBrowser = err.isTTY === true && !command.noBrowser;
  return login({ ...options, ...command, lines, openBrowser: hasBrowser ? open : undefined }, signal);
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}
