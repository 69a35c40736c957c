import { ok } from 'neverthrow';
import type { Command } from '../adapters/inbound/cli/command.ts';
import { logNotices, messageForProblems } from '../adapters/inbound/words/process-messages.ts';
import { SystemClock } from '../adapters/outbound/clock/system-clock.ts';
import { loadConfig } from '../adapters/outbound/config/load-config.ts';
import { readOwnCommand } from '../adapters/outbound/config/own-command.ts';
import { secretsIn } from '../adapters/outbound/config/secrets.ts';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import type { ConfigOptions } from '../adapters/outbound/config/set-keys.ts';
import { StandardError, StderrLogger } from '../adapters/outbound/logger/stderr-logger.ts';
import { whenNeeded } from '../application/async/shared-runs.ts';
import { CallerRights, isGatewayOnly } from '../application/gateway/offer.ts';
import type { Validated } from '../application/ports/config.ts';
import type { Clock, Logger, Services } from '../application/ports/services.ts';
import type { ValueReader } from '../application/ports/values.ts';
import type { Audit } from '../application/tools/audit.ts';
import { KeptValues } from '../application/values/kept-values.ts';
import { CHECK_TOOL } from '../domain/answers/question.ts';
import type { OwnCommand } from '../domain/gateway/own-command.ts';
import { createRedactor, redactedJson } from '../domain/values/redaction.ts';
import { readLoginsKey } from './secrets.ts';

export type ServerCommand = Extract<Command, { readonly kind: 'serve' | 'serve-http' }>;

/** The services that every mode needs before the first request. Each is created when it is first needed. */
export interface Runtime extends Services {
  readonly config: ServerConfig;
  readonly stderr: StandardError;
  readonly rights: CallerRights;
  /** Reads the complete configuration again. */
  readonly reload: () => ReturnType<typeof loadConfig>;
  /** Present only if there is an audit, and tools may be called. */
  readonly audit?: Audit;
  /** How a person starts the program, which commands in messages repeat. */
  readonly startCommand: () => OwnCommand;
  /** The folder of the program, with the recordings of the package and the page. */
  readonly folder: string;
  /** The values of files and commands to which the configuration refers. */
  readonly values: KeptValues;
  /** The key with which stored logins are encrypted; undefined if they are not. */
  readonly loginsKey: Buffer | undefined;
  /** Adds a function that `close` calls before those that were added earlier. */
  readonly atClose: (end: () => Promise<void>) => void;
  /** Closes everything that was created for this process. */
  readonly close: () => Promise<void>;
}

/** The input of the program before it reads its configuration. */
export interface Program extends Pick<Services, 'clock' | 'redactor'> {
  readonly stderr: StandardError;
  readonly folder: string;
}

/** `folder` is that of the program. */
export function createProgram(folder: string): Program {
  const redactor = createRedactor();
  const clock = new SystemClock();
  return { redactor, clock, stderr: new StandardError({ redactor, clock }), folder };
}

/** How a client can start the program; undefined for clients of other machines, which need not know its files. */
export function commandForClients({ config, startCommand }: Runtime): OwnCommand | undefined {
  return config.http === undefined ? startCommand() : undefined;
}

/**
 * Loads the configuration and creates the runtime, or returns every problem in the configuration. `serves`: for clients, rather than a person in a
 * terminal. `isWatched`: a person reads standard error on a terminal.
 */
export async function bootstrap(
  options: ConfigOptions & Partial<Program> & { readonly serves?: boolean; readonly isWatched?: boolean },
): Promise<Validated<Runtime>> {
  const { redactor, clock, stderr, folder } = { ...createProgram(''), ...options };
  const startCommand = () => readOwnCommand(process.argv[1], options.commandLine, options.environment);
  const load = async (isReload: boolean) => {
    const validated = await loadConfig({ ...options, startCommand, isReload });
    if (options.serves && !isReload)
      stderr.form = options.isWatched && validated.log === 'text' ? 'terminal' : validated.log;
    if ('value' in validated) redactor.learn(validated.value.secrets);
    return validated;
  };
  const validated = await load(false);
  if ('problems' in validated) return validated;
  const config = validated.value;
  const logger = new StderrLogger({ ...config.server, clock, redactor, stderr });
  for (const { file, client, folder, servers } of config.serversFiles)
    logger.debug(`servers: ${file} is of ${client}; folder ${folder}; servers: ${servers.join(', ') || 'none'}`);
  const hasAnswers = !options.serves || !isGatewayOnly(config);
  const otherTools = config.citations.tool || config.citations.rest ? [CHECK_TOOL] : [];
  const values = new KeptValues({ reader: valueReader(clock), redactor, formsOf: secretsIn });
  const loginsKey = options.unset === undefined ? await readLoginsKey(config, values) : ok(undefined);
  if (loginsKey.isErr()) return { problems: [loginsKey.error] };
  const ends: (() => Promise<void>)[] = [() => values.close()];
  const value: Runtime = {
    values,
    loginsKey: loginsKey.value,
    config,
    clock,
    logger,
    redactor,
    stderr,
    rights: new CallerRights(config.access, { hasAnswers, otherTools }),
    reload: () => load(true),
    startCommand,
    folder,
    atClose: (end) => void ends.push(end),
    close: async () => {
      for (const end of ends.reverse()) await end();
      logger.close();
    },
  };
  return { value };
}

/** Reads values with this program's environment. Its packages are loaded with the first value. */
function valueReader(clock: Clock): ValueReader {
  const loaded = whenNeeded(async () => {
    const { LocalValues } = await import('../adapters/outbound/values/local-values.ts');
    return new LocalValues({ clock, environment: process.env });
  });
  return { read: async (reference, signal) => (await loaded.get()).read(reference, signal) };
}

/** The runtime of a server; undefined if the configuration has problems, which are then on standard error. */
export async function startServer(command: ServerCommand, program: Program): Promise<Runtime | undefined> {
  const { options: commandLine, showConfig } = command;
  const validated = await bootstrap({
    ...program,
    environment: process.env,
    commandLine,
    version: VERSION,
    serves: true,
    isWatched: command.kind === 'serve-http' && process.stderr.isTTY === true,
  });
  if ('problems' in validated) {
    program.stderr.say('error', messageForProblems(validated.problems));
    return undefined;
  }
  const runtime = await withAudit(validated.value);
  const { config, logger, stderr } = runtime;
  if (stderr.form === 'json') logWarningsOfNode(logger);
  logNotices(config.notices, logger);
  if (showConfig || config.server.showConfigOnStart) writeConfig(runtime);
  return runtime;
}

/** The width of the terminal that shows standard output, and whether it has styles. Node.js reads the variables about them, such as NO_COLOR and TERM. */
export function terminalLook(): { readonly columns: number | undefined; readonly hasStyles: boolean } {
  const { isTTY, columns } = process.stdout;
  return {
    columns: isTTY === true ? columns || 80 : undefined,
    hasStyles: isTTY === true && process.stdout.hasColors(),
  };
}

/** Opens the audit, if there is one. */
export async function withAudit(runtime: Runtime): Promise<Runtime> {
  if (runtime.config.audit === undefined) return runtime;
  const { openAudit } = await import('./audit.ts');
  const audit = openAudit(runtime.config.audit, runtime);
  runtime.atClose(() => audit.close());
  return { ...runtime, audit };
}

/** Writes the configuration in effect to standard error, without secrets. */
export function writeConfig({ config, redactor, stderr }: Runtime): void {
  if (stderr.form === 'json') stderr.record({ config: config.shown() });
  else stderr.write(`${redactedJson(config.shown(), redactor.inLogs, 2)}\n`);
}

/** Logs the warnings of Node.js, such as that certificates are not checked, which it otherwise writes as text. */
function logWarningsOfNode(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => logger.warn(String(warning)));
}

/** Calls `stop` when the terminal is closed, which sends SIGHUP. The process then ends by this signal. */
export function onHangUp(stop: () => void): void {
  process.on('SIGHUP', () => {
    stop();
    process.once('exit', endBySignal);
  });
}

/** Ends the process as SIGHUP does. Node.js itself would try to restore the settings of a closed terminal, fail, and abort. */
function endBySignal(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** Logs the first uncaught error and calls `onError`. Ignores later errors, which usually follow from the first. */
export function onUncaughtError(logger: Logger, onError: () => void): void {
  let isHandled = false;
  const handle = (error: unknown) => {
    if (isHandled) return;
    isHandled = true;
    logger.error(`internal error: ${String(error)}`);
    onError();
  };
  process.on('uncaughtException', handle);
  process.on('unhandledRejection', handle);
}

declare const PACKAGE_VERSION: string | undefined;

/** The version of package.json, which the build inserts. Sources that run without a build, in tests, have none. */
export const VERSION = typeof PACKAGE_VERSION === 'string' ? PACKAGE_VERSION : '0.0.0-source';

export const PROGRAM = 'openai-responses-mcp';

export const IDENTITY = { name: PROGRAM, version: VERSION };

/** The entry point of the threads that read texts. With the version, a process whose files are replaced finds its own, or none. */
export const TEXT_WORKER = `chunks/text-worker-${VERSION}.js`;
