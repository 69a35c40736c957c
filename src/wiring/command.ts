import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { err, ok, type Result } from 'neverthrow';
import { ask } from '../adapters/inbound/cli/ask.ts';
import { callTool } from '../adapters/inbound/cli/call-tool.ts';
import type { CommandContext } from '../adapters/inbound/cli/command-context.ts';
import { type Command, QUESTION_REQUIRED } from '../adapters/inbound/cli/command-line.ts';
import { doctor } from '../adapters/inbound/cli/doctor.ts';
import type { CheckedLogin } from '../adapters/inbound/cli/doctor-checks.ts';
import { terminalLook } from '../adapters/inbound/cli/hyperlink-support.ts';
import { listTools } from '../adapters/inbound/cli/list-tools.ts';
import { BAD_USAGE, FAILED, INTERRUPTED } from '../adapters/inbound/exit-codes.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { NO_OBJECT, toolErrorMessage, unreadableFile } from '../adapters/inbound/words/tool-error-messages.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import { untilAborted } from '../application/async/deadline.ts';
import type { Logger } from '../application/ports/logger.ts';
import { type CallOrigin, LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../domain/gateway/gateway-tool.ts';
import { isObject, type JsonObject, parseJson } from '../domain/values/json.ts';
import type { ComposedGateway } from './gateway.ts';
import { answerServers, type Runtime } from './runtime.ts';
import type { LoadServices } from './services.ts';

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;
type LoginCommand = CommandOf<'login' | 'logins' | 'logout'>;
type RunnableCommand = LoginCommand | CommandOf<'ask' | 'doctor' | 'tools' | 'call'>;

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
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
  const { stdout, stderr } = process;
  const out = (text: string) => stdout.write(text);
  const rights = runtime.rightsOf({ caller: LOCAL_CALLER });
  const by: CallOrigin = { caller: LOCAL_CALLER, door: 'cli', rights: () => rights };
  const context = { ...runtime, by, load, out, err: stderr, isTerminal: stdout.isTTY === true };
  const code = await run(command, context, signal);
  // However slow the reader of standard output is, it gets everything.
  await untilAborted(new Promise<void>((resolve) => stdout.write('', () => resolve())), signal);
  return signal.aborted ? INTERRUPTED : code;
}

function run(command: RunnableCommand, context: Context, signal: AbortSignal): Promise<number> {
  switch (command.kind) {
    case 'ask':
      return runAsk(command, context, signal);
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
  const terminal = isTerminal ? terminalLook(process.stdout) : undefined;
  const services = await load({ servers: answerServers(config, by.rights()), logSpawn: (line) => logger.debug(line) });
  const application = await services.application();
  return ask({ ...context, ...command, application, question, terminal }, signal);
}

async function runTools({ json, action }: CommandOf<'tools'>, context: Context, signal: AbortSignal): Promise<number> {
  const { by, config, err } = context;
  if (action !== undefined && config.lock === undefined) {
    err.write(PROCESS.badUsage(PROCESS.noLock(action)));
    return BAD_USAGE;
  }
  const { gateway } = await startServers(context, action === undefined ? by.rights().sees : undefined);
  if (action !== undefined && config.lock !== undefined) {
    const [{ lockTools }, { replaceFile }] = await Promise.all([
      import('../adapters/inbound/cli/lock-tools.ts'),
      import('../adapters/outbound/files/replace-file.ts'),
    ]);
    return lockTools({ ...context, ...config.lock, action, json, gateway, save: replaceFile }, signal);
  }
  return listTools({ ...context, json, gateway: gateway?.as(by.rights()), offered: await offeredBy(context) }, signal);
}

async function runDoctor(json: boolean, context: Context, signal: AbortSignal): Promise<number> {
  const { config } = context;
  const { openai, llm, server, grounding, access, audit, lock, quota } = config;
  const { apiKeyVariable: variable, apiKey: value, isKeyFileShared: isShared } = openai;
  const { oauth, problems } = await config.readOAuth();
  const oauthProblems = problems.length > 0 ? problems : undefined;
  const { services, composed, gateway } = await startServers(context);
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
      audit: audit && (await import('./audit.ts')).checkedAudit(audit),
      quota: quota && (await import('./quota.ts')).checkedQuota(quota, context),
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
  const logins = await (await composeLogins(runtime)).list();
  const checked = servers.map(async ({ name, connection }): Promise<readonly CheckedLogin[]> => {
    const { auth } = connection.kind === 'remote' ? connection : {};
    if (auth?.grant !== 'client_credentials') return logins.filter(({ server }) => server === name);
    return [{ server: name, clientId: auth.clientId, login: await gateway?.machineLogin(name) }];
  });
  return (await Promise.all(checked)).flat();
}

/** The names of the tools that are offered to the model in answers. */
async function offeredBy({ config }: Runtime): Promise<(tools: readonly GatewayTool[]) => readonly string[]> {
  const { grounding } = config;
  if (grounding === undefined) return () => [];
  const { toOffer } = await import('../domain/grounded/grounding.ts');
  return (tools) => toOffer(tools, grounding).functions.map(({ tool }) => `${tool.server}/${tool.name}`);
}

/** Starts the configured servers, or only those that are used, once: a person waits for the outcome. The gateway is undefined if there are none. */
async function startServers({ config, logger, load }: Context, isUsed: (server: string) => boolean = () => true) {
  const servers = (config.servers ?? []).filter(({ name }) => isUsed(name));
  const debug = (line: string) => logger.debug(line);
  const quiet: Logger = { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) };
  const once = servers.map((server) => ({ ...server, restart: 'never' as const }));
  const services = await load({ servers: once, logSpawn: debug, logger: quiet });
  const composed = servers.length === 0 ? undefined : await services.gateway();
  return { services, composed, gateway: composed?.gateway };
}

async function runCall(command: CommandOf<'call'>, context: Context, signal: AbortSignal): Promise<number> {
  const { server, tool, input } = command;
  const { config, redactor, err: errors, by, audit } = context;
  const names = (config.servers ?? []).map(({ name }) => name).filter(by.rights().sees);
  if (!names.includes(server)) {
    const isDenied = config.servers?.some(({ name }) => name === server) === true;
    const unknown = { kind: 'unknown_server', server, known: names } as const;
    const call = async () => ({ server, tool, args: (await readInput(input, signal)).unwrapOr({}), by });
    const toEnding = () => ({ outcome: isDenied ? 'denied' : unknown.kind });
    const ended = await audit?.record(await call(), async () => err(unknown), toEnding);
    const error = ended?.isErr() ? ended.error : unknown;
    errors.write(`${redactor.inLogs(toolErrorMessage(error))}\n`);
    return error === unknown ? BAD_USAGE : FAILED;
  }
  const args = await readInput(input, signal);
  if (signal.aborted) return INTERRUPTED;
  if (args.isErr()) {
    errors.write(`${args.error}\n`);
    return BAD_USAGE;
  }
  const { gateway } = await startServers(context, (name) => name === server);
  if (gateway === undefined) return BAD_USAGE;
  return callTool({ ...context, gateway, server, tool, args: args.value }, signal);
}

/** Starts no server. */
async function runLogins(command: LoginCommand, context: Context, signal: AbortSignal): Promise<number> {
  const [{ composeLogins, whyNoLogin }, { listLogins, login, logout }] = await Promise.all([
    import('./logins.ts'),
    import('../adapters/inbound/cli/logins.ts'),
  ]);
  const { config, err } = context;
  const servers = new Map((config.servers ?? []).map((server) => [server.name, whyNoLogin(server)]));
  const options = { ...context, logins: await composeLogins(context), servers };
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

/** The input of a call, or why it cannot be read. */
async function readInput(input: string, signal: AbortSignal): Promise<Result<JsonObject, string>> {
  let json = input;
  try {
    if (input === '-') json = await untilAborted(text(process.stdin), signal);
    else if (input.startsWith('@')) json = readFileSync(input.slice(1), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return err(unreadableFile(input.slice(1), code ?? String(error)));
  }
  const args = parseJson(json.replace(/^\uFEFF/, ''));
  return isObject(args) ? ok(args) : err(NO_OBJECT);
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}
