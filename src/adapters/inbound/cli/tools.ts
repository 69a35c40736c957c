import type { Gateway } from '../../../application/gateway/gateway.ts';
import type { ServerStatus } from '../../../application/gateway/server-description.ts';
import type { VisibleGateway } from '../../../application/gateway/visible-gateway.ts';
import {
  type ApprovedTools,
  approve,
  type Difference,
  differences,
  lockText,
  numberOfTools,
} from '../../../domain/gateway/approved-tools.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { loginCommand } from '../../../domain/gateway/tool-call-error.ts';
import { reasonOf } from '../../../domain/values/certificate-problem.ts';
import { cleanLine, clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { isSameJson, type JsonObject, sortedJson } from '../../../domain/values/json.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { styled } from '../../../domain/values/terminal-style.ts';
import { FAILED, INTERRUPTED, SUCCEEDED } from '../exit-codes.ts';
import type { Failure } from '../failure-json.ts';
import { ofToolCallError } from '../http/refusal.ts';
import { age } from '../words/plain.ts';
import {
  approvedMessage,
  leftOutMessage,
  notApprovedMessage,
  notComparedMessage,
  startingWords,
} from '../words/server-messages.ts';
import { idleServers, NO_SERVERS_ALLOWED, noServers, unwritableFile } from '../words/tool-error-messages.ts';
import { toolLines } from './parameters.ts';
import { type CommandContext, openLine, reportFailure } from './terminal.ts';
import { fitted } from './terminal-lines.ts';

/** A server of this process, or of a running gateway. */
export interface ShownServer extends Pick<ServerStatus, 'name' | 'lastError' | 'listedAt' | 'changed' | 'leftOut'> {
  readonly state: string;
  readonly transport: string;
  readonly since: Date;
  readonly login?: string | undefined;
}

/** What is shown of a gateway. */
interface ShownGateway extends Pick<VisibleGateway, 'tools' | 'whenStarted'> {
  readonly servers: readonly ShownServer[];
}

interface ListToolsOptions extends CommandContext {
  /** The servers that are shown. */
  readonly gateway: ShownGateway | undefined;
  /** Only this tool is shown, with its parameters. */
  readonly tool?: string | undefined;
  readonly json: boolean;
  /** Whether there are servers, of which the person may use none. */
  readonly isNoneAllowed?: boolean;
  /** The files of other clients that were read. */
  readonly files?: readonly { readonly file: string }[];
  /** The files of other clients in this folder that no option names. */
  readonly unused?: readonly string[];
  /** How this program is started for a call of a tool, if not as otherwise. */
  readonly callCommand?: OwnCommand;
  /** The response of a running gateway, which `json` prints in place of what is known here. */
  readonly reply?: JsonObject;
  /** The names of the tools that answers may use, as `server/tool`. */
  readonly offered: (tools: readonly GatewayTool[]) => readonly string[];
}

const MAX_DESCRIPTION = 100;

/**
 * Prints the servers, their states and their tools. For a server that does not run, prints its kept list of tools. The exit code is 1 if a server
 * cannot be used, or has no such tool.
 */
export async function listTools(options: ListToolsOptions, signal: AbortSignal): Promise<number> {
  const { gateway, tool, json, out, isTerminal, offered, ownCommand, callCommand, files = [], unused = [] } = options;
  const redact = options.redactor.inLogs;
  await whenStarted(options, signal);
  const { servers = [], tools: known = [] } = gateway ?? {};
  const tools = known.filter(({ name }) => tool === undefined || name === tool);
  const isAvailable = servers.every(({ state }) => state === 'available' || state === 'idle');
  const isMissing = tool !== undefined && tools.length === 0;
  const names = offered(tools);
  const idle = servers.filter(({ state }) => state === 'idle');
  const print = (line: string) => out(`${fitted(line, options)}\n`);
  const show = (server: ShownServer) => print(stateLine(server, options));
  const missing = isMissing && isAvailable ? missingTool(tool, options) : undefined;
  if (missing !== undefined) {
    reportFailure(options, missing);
    return FAILED;
  }
  if (json) {
    const text = redactedJson(options.reply ?? toListJson(options, servers, tools, names), redact, 2);
    out(`${isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  } else if (tool !== undefined && !isMissing) {
    for (const server of idle) show(server);
    for (const line of tools.flatMap((shown) => toolLines(shown, callCommand ?? ownCommand))) print(redact(line));
  } else if (tool === undefined || !isAvailable) {
    if (servers.length === 0)
      print(options.isNoneAllowed === true ? NO_SERVERS_ALLOWED : noServers({ read: files, unused }, ownCommand));
    const markOf = (name: string) => (names.length === 0 ? '' : names.includes(name) ? '* ' : '  ');
    for (const server of servers) {
      const { name, changed, leftOut } = server;
      show(server);
      if (leftOut !== undefined) print(`  ${redact(leftOutMessage(leftOut))}`);
      if (changed !== undefined) print(`  ${redact(notApprovedMessage(changed, ownCommand))}`);
      for (const tool of tools.filter(({ server }) => server === name))
        print(`  ${markOf(`${name}/${tool.name}`)}${redact(summaryLine(tool))}`);
    }
    if (names.length > 0) out('* offered to the model in answers (grounding.tools)\n');
  }
  const isOwn = options.reply === undefined;
  if (isOwn && isTerminal && !json && tool === undefined && isAvailable && idle.length > 0)
    print(idleServers(ownCommand));
  return isAvailable && !isMissing ? SUCCEEDED : FAILED;
}

function toListJson(
  { ownCommand, files = [] }: ListToolsOptions,
  servers: readonly ShownServer[],
  tools: readonly GatewayTool[],
  offered: readonly string[],
): JsonObject {
  const shown = servers.map((server) => ({
    ...server,
    since: server.since.toISOString(),
    login: server.login && loginCommand(server.name, ownCommand),
  }));
  const grounded = tools.map((tool) => ({ ...tool, offered: offered.includes(`${tool.server}/${tool.name}`) }));
  return { servers: shown, tools: grounded, ...(files.length > 0 && { files }) };
}

function stateLine(
  { name, state, transport, lastError, listedAt }: ShownServer,
  { clock, redactor, hasStyles = false }: CommandContext,
): string {
  const redact = redactor.inLogs;
  const reason = state === 'available' || lastError === undefined ? '' : `: ${cleanLine(lastError)}`;
  const since = listedAt === undefined ? '' : `, listed ${age(clock.now().getTime() - listedAt.getTime())} ago`;
  const isUsable = state === 'available' || state === 'idle';
  const shown = styled(isUsable ? 'green' : 'red', state, hasStyles);
  return `${styled('bold', redact(name), hasStyles)}: ${shown} ${redact(`(${transport}${since})${reason}`)}`;
}

/** Why the only server that is shown does not offer a tool. */
function missingTool(tool: string, { gateway, ownCommand }: ListToolsOptions): Failure {
  const [shown] = gateway?.servers ?? [];
  const server = shown?.name ?? '';
  if (shown?.changed?.includes(tool)) {
    const failure = ofToolCallError({ kind: 'tool_changed', server, tool, change: 'changed' });
    return { code: failure.code, message: notApprovedMessage([tool], ownCommand), details: { server, tool } };
  }
  return ofToolCallError({ kind: 'unknown_tool', server, tool, known: (gateway?.tools ?? []).map(({ name }) => name) });
}

/** Resolves when every server has started, or has failed. */
async function whenStarted(
  options: CommandContext & { readonly gateway: Pick<ShownGateway, 'whenStarted' | 'servers'> | undefined },
  signal: AbortSignal,
): Promise<void> {
  const line = options.gateway && openLine(options, () => startingWords(options.gateway?.servers ?? []));
  await options.gateway?.whenStarted(Number.POSITIVE_INFINITY, signal);
  line?.end();
}

function summaryLine({ name: rawName, description }: GatewayTool): string {
  const name = cleanLine(rawName);
  const line = cleanLine(description.split('\n')[0] ?? '');
  // Cuts after a word, if one ends near the limit.
  const short = line.length > MAX_DESCRIPTION ? clip(line, MAX_DESCRIPTION).replace(/(?<=.{50})\s\S*…$/, '…') : line;
  return short === '' ? name : `${name}: ${short}`;
}

export interface LockOptions extends CommandContext {
  readonly action: 'lock' | 'diff';
  readonly json: boolean;
  /** The path of the file that `gateway.lock` names. */
  readonly file: string;
  /** The approved tools in the file; undefined if it is missing or damaged. */
  readonly approved: ApprovedTools | undefined;
  /** Undefined if no servers are configured. */
  readonly gateway: Pick<Gateway, 'listed' | 'servers' | 'whenStarted'> | undefined;
  /** Replaces the file; rejects if it cannot be written. */
  readonly save: (file: string, text: string) => Promise<void>;
}

/** Approves the tools as they are now (`lock`), or prints how they differ from the approved tools (`diff`). Returns the exit code. */
export async function lockTools(options: LockOptions, signal: AbortSignal): Promise<number> {
  const { gateway, approved, action, file, redactor, out, err, save } = options;
  await whenStarted(options, signal);
  if (signal.aborted) return INTERRUPTED;
  const current = approve(gateway?.listed ?? [], approved);
  const found = action === 'lock' ? [] : differences(approved ?? { servers: {} }, current);
  if (action === 'diff') out(redactor.inLogs(toText(found, options)));
  else {
    try {
      await save(file, lockText(current));
    } catch (error) {
      err.write(unwritableFile(file, reasonOf(error)));
      return FAILED;
    }
    out(approvedMessage(numberOfTools(current), file));
  }
  const unavailable = (gateway?.servers ?? []).filter(({ state }) => state !== 'available');
  for (const { name, lastError } of unavailable) err.write(redactor.inLogs(notComparedMessage(name, lastError)));
  return found.length + unavailable.length > 0 ? FAILED : SUCCEEDED;
}

/** Makes hidden characters visible, except in JSON that a program reads. */
function toText(found: readonly Difference[], { json, isTerminal, redactor }: LockOptions): string {
  const lines = json
    ? redactedJson({ differences: found }, redactor.inLogs, 2).split('\n')
    : found.flatMap(differenceLines);
  return lines.map((line) => `${json && !isTerminal ? line : withVisibleCharacters(line)}\n`).join('');
}

function differenceLines({ server, tool, change, before = {}, after = {} }: Difference): readonly string[] {
  const members = change === 'changed' ? [...new Set([...Object.keys(before), ...Object.keys(after)])].sort() : [];
  const linesOf = (mark: string, value: unknown) => {
    const text = typeof value === 'string' ? value : sortedJson(value, 2);
    return value === undefined ? [] : text.split('\n').map((line) => `  ${mark} ${line}`);
  };
  const changes = members
    .filter((member) => !isSameJson(before[member], after[member]))
    .flatMap((member) => [`  ${member}:`, ...linesOf('-', before[member]), ...linesOf('+', after[member])]);
  return [`${change} ${server}/${tool}`, ...changes];
}

const HIDDEN = /[\p{C}\p{DI}\p{Zl}\p{Zp}\u2800]/gu;

/** Shows each control and hidden character of a text as `<U+200B>`. */
function withVisibleCharacters(text: string): string {
  const codeOf = (character: string) => character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return text.replace(HIDDEN, (character) => `<U+${codeOf(character)}>`);
}
