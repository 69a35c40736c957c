import { readFile } from 'node:fs/promises';
import { buffer, text } from 'node:stream/consumers';
import { ask } from '../adapters/inbound/cli/ask.ts';
import { checkTextFor } from '../adapters/inbound/cli/check-text.ts';
import type { Command } from '../adapters/inbound/cli/command.ts';
import { questionRequired } from '../adapters/inbound/cli/command-table.ts';
import { doctor } from '../adapters/inbound/cli/doctor.ts';
import { invalidConfiguration, NODE } from '../adapters/inbound/cli/doctor-checks.ts';
import { newToken } from '../adapters/inbound/cli/new-token.ts';
import { reportFailure, say } from '../adapters/inbound/cli/terminal.ts';
import { BAD_USAGE, FAILED, INTERRUPTED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import { CHECK } from '../adapters/inbound/words/check-messages.ts';
import {
  messageForProblem,
  messageForProblems,
  noticesAbout,
  PROCESS,
} from '../adapters/inbound/words/process-messages.ts';
import { unreadableFile } from '../adapters/inbound/words/tool-error-messages.ts';
import { decodedText } from '../adapters/outbound/files/text-decoder.ts';
import { CANCELLED, never, untilAborted } from '../application/async/deadline.ts';
import { answerServers } from '../application/gateway/offer.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import type { PageCheck } from '../domain/answers/citation.ts';
import { type CallOrigin, LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import { reasonOf } from '../domain/values/certificate-problem.ts';
import { withoutUnsafeCharacters } from '../domain/values/clean-text.ts';
import { withoutUndefined } from '../domain/values/json.ts';
import { withoutKeyLike } from '../domain/values/redaction.ts';
import { isWebUrl } from '../domain/values/web-url.ts';
import { composeCatalogue } from './catalogue.ts';
import { runDoctor, runOfflineDoctor } from './doctor.ts';
import {
  bootstrap,
  onHangUp,
  type Program,
  type Runtime,
  type ServerCommand,
  terminalLook,
  VERSION,
  withAudit,
  writeConfig,
} from './runtime.ts';
import {
  askableAt,
  type CommandOf,
  type Context,
  runCall,
  runLogins,
  runTools,
  startServers,
} from './server-commands.ts';

/** A command that a person runs, rather than a client. */
export type TerminalCommand = Exclude<Command, ServerCommand | { readonly kind: 'help' | 'version' | 'bad-usage' }>;

/** Runs a command for a person, who may interrupt it with Ctrl-C at any time, and returns the exit code. */
export async function runCommand(command: TerminalCommand, program: Program): Promise<number> {
  if (command.kind === 'token') return printToken(command, program);
  const writesLock = command.kind === 'tools' && command.action === 'lock';
  const isOfflineCheck = command.kind === 'doctor' && command.options['--offline'] !== undefined;
  const unset: ConfigProblem[] = [];
  const options = { environment: process.env, commandLine: command.options, version: VERSION, writesLock };
  const validated = await bootstrap({ ...program, ...options, ...(isOfflineCheck && { unset }) });
  if ('problems' in validated) return reportProblems(command, validated.problems, program);
  const runtime = validated.value;
  if (isOfflineCheck) return runOfflineDoctor(command.json, runtime, unset).finally(runtime.close);
  warnOfNotices(command, runtime);
  return runUntilInterrupted(command, runtime).finally(runtime.close);
}

/** Prints a new token, and its line for `http.token_file`. Needs no configuration, because it may not be complete yet. */
function printToken({ caller }: CommandOf<'token'>, { clock }: Program): number {
  const { token, line } = newToken(caller, clock.now());
  process.stdout.write(`${token}\n${line}\n`);
  say(PROCESS.newToken(caller).trimEnd(), { err: process.stderr });
  return SUCCEEDED;
}

type ConfiguredCommand = Exclude<TerminalCommand, { readonly kind: 'token' }>;

async function reportProblems(
  command: ConfiguredCommand,
  problems: readonly ConfigProblem[],
  { redactor }: Program,
): Promise<number> {
  const out = (text: string) => process.stdout.write(text);
  if (command.kind === 'doctor') {
    const checks = [NODE, invalidConfiguration(problems)];
    return doctor(checks, { json: command.json, out, redact: withoutKeyLike, ...terminalLook() }, never());
  }
  const message = messageForProblems(problems);
  const details = { problems: problems.map(({ where, message, file }) => withoutUndefined({ where, message, file })) };
  const failure = { code: 'CONFIGURATION_ERROR', message: message.trimEnd(), details };
  reportFailure({ json: 'json' in command && command.json, redactor, out, err: process.stderr }, failure);
  return FAILED;
}

/** The notices of the configuration that concern the command. */
function warnOfNotices(command: ConfiguredCommand, { config, redactor, startCommand }: Runtime): void {
  // doctor has a line for each, and --show-config prints only JSON.
  if (command.kind === 'doctor' || command.kind === 'show-config') return;
  const isElsewhere = command.kind === 'check' || ('url' in command && command.url !== undefined);
  const usesServers = !isElsewhere && (command.kind !== 'ask' || config.grounding !== undefined);
  const notices = noticesAbout(config.notices, usesServers, 'server' in command ? command.server : undefined);
  for (const notice of notices) {
    const words = `warning: ${redactor.inLogs(withoutUnsafeCharacters(messageForProblem(notice)))}`;
    say(words, { err: process.stderr, ownCommand: startCommand() });
  }
}

async function runUntilInterrupted(command: ConfiguredCommand, runtime: Runtime): Promise<number> {
  const controller = new AbortController();
  const { signal } = controller;
  const interrupt = () => controller.abort(CANCELLED);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  onHangUp(interrupt);
  const { stdout, stderr } = process;
  // After the end of a terminal, what is shown there is lost, and servers must be ended nevertheless.
  stderr.on('error', () => {});
  const out = (text: string) => stdout.write(text);
  const rights = runtime.rights.of({ caller: LOCAL_CALLER });
  const by: CallOrigin = { caller: LOCAL_CALLER, door: 'cli', rights };
  const ownCommand = runtime.startCommand();
  const context = {
    ...runtime,
    ownCommand,
    by,
    out,
    err: stderr,
    isTerminal: stdout.isTTY === true,
    ...terminalLook(),
  };
  const code = await run(command, context, signal);
  // Waits until even a slow reader of standard output has everything.
  await untilAborted(new Promise<void>((resolve) => stdout.write('', () => resolve())), signal);
  return signal.aborted ? INTERRUPTED : code;
}

async function run(command: ConfiguredCommand, context: Context, signal: AbortSignal): Promise<number> {
  switch (command.kind) {
    case 'show-config':
      writeConfig(context);
      return SUCCEEDED;
    case 'ask':
      return runAsk(command, context, signal);
    case 'check':
      return runCheck(command, context, signal);
    case 'tools':
      return runTools(command, context, signal);
    case 'call':
      return runCall(command, context, signal);
    case 'doctor':
      return checkSetup(command, context, signal);
    case 'login':
    case 'logins':
    case 'logout':
      return runLogins(command, context, signal);
  }
}

async function runAsk(command: CommandOf<'ask'>, context: Context, signal: AbortSignal): Promise<number> {
  const { config, logger, err, by } = context;
  const question = command.question ?? (await untilAborted(text(process.stdin), signal)).trim();
  if (signal.aborted) return INTERRUPTED;
  if (question === '') {
    const required = questionRequired(command.options['--record']);
    const failure = { code: 'USAGE_ERROR', message: required.problem };
    reportFailure({ ...context, ...command }, failure, PROCESS.badUsage(required, context.ownCommand));
    return BAD_USAGE;
  }
  if (command.options['--check'] !== undefined && config.llm.adapter === 'offline') err.write(PROCESS.nothingChecked);
  const { columns, hasStyles } = terminalLook();
  const terminal = columns === undefined ? undefined : { columns, hasStyles };
  const { catalogue } = composeCatalogue(await withAudit(context), {
    servers: answerServers(config, by.rights),
    starts: 'on_use',
    logSpawn: (line) => logger.debug(line),
  });
  return ask({ ...context, ...command, catalogue, question, terminal }, signal);
}

async function checkSetup({ json }: CommandOf<'doctor'>, context: Context, signal: AbortSignal): Promise<number> {
  const { loadApplication, composed } = await startServers(context, 'all', { declared: askableAt(context) });
  return runDoctor(json, context, { application: await loadApplication(), composed }, signal);
}

/** The time for a page in the terminal, where a person waits. */
const PAGE_MS = 10_000;

/** Checks the texts of files, of pages or of standard input. */
async function runCheck(command: CommandOf<'check'>, context: Context, signal: AbortSignal): Promise<number> {
  const { sources, isPrivate, timeoutMs: pageMs = PAGE_MS } = command;
  const { loadCheck } = composeCatalogue(context, { servers: [], logSpawn: () => {} });
  const { check, fetchText } = await loadCheck({ pageMs, isPrivate });
  const texts: { readonly file: string | undefined; readonly text: string }[] = [];
  const problems: string[] = [];
  for (const source of sources) {
    const read = await untilAborted(textOf(source, fetchText, signal), signal);
    if (read === 'aborted') return INTERRUPTED;
    if ('text' in read) texts.push({ file: source === '-' ? undefined : source, text: read.text });
    else problems.push(read.problem);
  }
  if (texts.length === 0) {
    reportFailure({ ...context, ...command }, { code: 'VALIDATION_ERROR', message: problems.join('\n') });
    return BAD_USAGE;
  }
  for (const problem of problems) say(problem, context);
  const code = await checkTextFor({ ...context, ...command, check, texts }, signal);
  return problems.length > 0 && code !== INTERRUPTED ? BAD_USAGE : code;
}

/** The text of a source, or why it cannot be read. */
async function textOf(
  source: string,
  fetchText: (url: string, signal: AbortSignal) => Promise<string | PageCheck>,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  if (isWebUrl(source)) {
    const page = await fetchText(source, signal);
    return typeof page === 'string' ? { text: page } : { problem: CHECK.unreadable(source, page) };
  }
  try {
    const text = decodedText(source === '-' ? await buffer(process.stdin) : await readFile(source));
    return text === undefined ? { problem: CHECK.notText(source) } : { text };
  } catch (error) {
    return { problem: unreadableFile(source, reasonOf(error)) };
  }
}
