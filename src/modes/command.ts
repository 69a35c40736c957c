import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { ask } from '../adapters/inbound/cli/ask.ts';
import { callTool } from '../adapters/inbound/cli/call-tool.ts';
import type { CheckedOAuth } from '../adapters/inbound/cli/check-oauth.ts';
import type { CheckedQuota } from '../adapters/inbound/cli/check-quota.ts';
import { type Command, QUESTION_REQUIRED } from '../adapters/inbound/cli/command-line.ts';
import { doctor } from '../adapters/inbound/cli/doctor.ts';
import { supportsHyperlinks } from '../adapters/inbound/cli/hyperlink-support.ts';
import { listTools } from '../adapters/inbound/cli/list-tools.ts';
import { toolErrorMessage } from '../adapters/inbound/tool-error-messages.ts';
import { isUnencrypted } from '../adapters/outbound/config/addresses.ts';
import { shownStore } from '../adapters/outbound/config/secrets.ts';
import type { Application } from '../application/application.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import type { Logger } from '../application/ports/logger.ts';
import type { Runtime } from '../bootstrap.ts';
import type { GatewayTool } from '../domain/gateway-tool.ts';
import { isObject, type JsonObject, parseJson } from '../domain/json.ts';
import { PROGRAM } from '../version.ts';
import type { GatewayAccess } from './gateway-access.ts';

const BAD_USAGE = 2;
const INTERRUPTED = 130;

/** Runs a command for a person, who may interrupt it with Ctrl-C at any time, and returns the exit code. */
export async function runCommand(
  command: Extract<Command, { kind: 'ask' | 'doctor' | 'tools' | 'call' }>,
  application: Application,
  runtime: Runtime,
  gateways: GatewayAccess,
): Promise<number> {
  const { signal, untilAborted } = interruption();
  const options = { ...runtime, application, out: (text: string) => process.stdout.write(text) };
  const { openai, llm, sources } = runtime.config;
  const isTerminal = process.stdout.isTTY === true;
  let code: number;
  if (command.kind === 'ask') {
    const question = command.question ?? (await Promise.race([text(process.stdin), untilAborted]))?.trim();
    if (question === '') process.stderr.write(`${QUESTION_REQUIRED}\nTry ${PROGRAM} --help\n`);
    const terminal = isTerminal ? terminalLook(process.stdout) : undefined;
    code = question
      ? await ask({ ...options, ...command, question, terminal, err: process.stderr }, signal)
      : BAD_USAGE;
  } else if (command.kind === 'tools') {
    const gateway = await startServers(runtime, gateways);
    code = await listTools(
      {
        ...options,
        json: command.json,
        isTerminal,
        err: process.stderr,
        gateway,
        redact: runtime.redactor.inLogs,
        offered: await offeredBy(runtime),
      },
      signal,
    );
  } else if (command.kind === 'call') {
    code = await call(command, options, gateways, untilAborted, signal);
  } else {
    const { json } = command;
    const { apiKeyVariable: variable, apiKey: value, isKeyFileShared: isShared } = openai;
    const apiKey = { variable, value, isShared };
    const isOffline = llm.adapter === 'offline';
    const configSources = describeSources(sources);
    const gateway = await startServers(runtime, gateways);
    code = await doctor(
      {
        ...options,
        json,
        configSources,
        notices: runtime.config.notices,
        apiKey,
        isOffline,
        isUnencrypted: isUnencrypted(openai.baseUrl),
        gateway,
        grounding: runtime.config.grounding,
        quota: await checkedQuota(runtime),
        oauth: await checkedOAuth(runtime),
        profiles: runtime.config.profiles,
        toolErrors: runtime.config.server.toolErrors,
        err: process.stderr,
      },
      signal,
    );
  }
  // However slow the reader of standard output is, it gets everything.
  await Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), untilAborted]);
  return signal.aborted ? INTERRUPTED : code;
}

async function checkedQuota({ config: { quota }, clock }: Runtime): Promise<CheckedQuota | undefined> {
  if (quota === undefined) return undefined;
  const { probeQuotaStore } = await import('../compose-quota.ts');
  return { ...quota, store: shownStore(quota.store), probe: () => probeQuotaStore(quota, clock) };
}

async function checkedOAuth({ config, clock }: Runtime): Promise<CheckedOAuth | readonly ConfigProblem[] | undefined> {
  const { oauth, problems } = await config.readOAuth();
  if (oauth === undefined) return problems.length > 0 ? problems : undefined;
  const { countIssuerKeys } = await import('../compose-token-verifier.ts');
  return { ...oauth, countKeys: (signal) => countIssuerKeys(oauth, clock, signal) };
}

/** The names of the tools that are offered to the model in answers. */
async function offeredBy({ config }: Runtime): Promise<(tools: readonly GatewayTool[]) => readonly string[]> {
  const { grounding } = config;
  if (grounding === undefined) return () => [];
  const { toOffer } = await import('../domain/grounding.ts');
  return (tools) => toOffer(tools, grounding).functions.map(({ tool }) => `${tool.server}/${tool.name}`);
}

/** Starts the configured servers, or only the named one, once: a person waits for the outcome. Undefined if there are none. */
async function startServers({ config, logger }: Runtime, gateways: GatewayAccess, only?: string) {
  const servers = (config.servers ?? []).filter(({ name }) => only === undefined || name === only);
  if (servers.length === 0) return undefined;
  const debug = (line: string) => logger.debug(line);
  const quiet: Logger = { isDebug: logger.isDebug, debug, warn: debug, error: (line) => logger.error(line) };
  return (await gateways.load()).start(
    servers.map((server) => ({ ...server, restart: 'never' })),
    { onCallEnded: () => {}, logSpawn: debug, logger: quiet },
  );
}

async function call(
  { server, tool, input }: Extract<Command, { kind: 'call' }>,
  options: Runtime & { readonly out: (text: string) => void },
  gateways: GatewayAccess,
  untilAborted: Promise<undefined>,
  signal: AbortSignal,
): Promise<number> {
  const names = (options.config.servers ?? []).map(({ name }) => name);
  if (!names.includes(server)) {
    const message = toolErrorMessage({ kind: 'unknown_server', server, known: names });
    process.stderr.write(`${options.redactor.inLogs(message)}\n`);
    return BAD_USAGE;
  }
  const args = await readInput(input, untilAborted);
  if (typeof args === 'string') process.stderr.write(`${args}\n`);
  if (typeof args === 'string' || signal.aborted) return BAD_USAGE;
  const gateway = await startServers(options, gateways, server);
  if (gateway === undefined) return BAD_USAGE;
  const isTerminal = process.stdout.isTTY === true;
  return callTool({ ...options, gateway, server, tool, args, err: process.stderr, isTerminal }, signal);
}

/** The input of a call, or why it cannot be read. */
async function readInput(input: string, untilAborted: Promise<undefined>): Promise<JsonObject | string> {
  let json: string | undefined = input;
  try {
    if (input === '-') json = await Promise.race([text(process.stdin), untilAborted]);
    else if (input.startsWith('@')) json = readFileSync(input.slice(1), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `The file ${input.slice(1)} cannot be read (${code ?? String(error)}).`;
  }
  // Nobody waits for the call any more.
  if (json === undefined) return {};
  const args = parseJson(json.replace(/^\uFEFF/, ''));
  return isObject(args) ? args : `The input must be a JSON object, such as '{"message": "hello"}'.`;
}

/** Node.js knows the variables that say whether there are styles, such as NO_COLOR and TERM. */
function terminalLook(stdout: typeof process.stdout) {
  const hasStyles = stdout.hasColors();
  return {
    columns: stdout.columns || 80,
    hasStyles,
    hasHyperlinks: hasStyles && supportsHyperlinks(process.env),
  };
}

/** A signal that aborts on Ctrl-C, and a promise that resolves then. */
function interruption(): { readonly signal: AbortSignal; readonly untilAborted: Promise<undefined> } {
  const controller = new AbortController();
  const untilAborted = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => controller.abort());
  return { signal: controller.signal, untilAborted };
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}
