import type { VisibleGateway } from '../../../application/gateway/gateway.ts';
import type { GatewayTool } from '../../../domain/gateway/gateway-tool.ts';
import { cleanLine, clip, withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { redactedJson } from '../../../domain/values/redaction.ts';
import { FAILED, SUCCEEDED } from '../exit-codes.ts';
import { NO_SERVERS } from '../words/tool-error-messages.ts';
import type { CommandContext } from './command-context.ts';
import { openLine } from './live-line.ts';

interface ListToolsOptions extends CommandContext {
  readonly gateway: Pick<VisibleGateway, 'servers' | 'tools' | 'whenStarted'> | undefined;
  readonly json: boolean;
  /** The names of the tools that answers may use, as `server/tool`. */
  readonly offered: (tools: readonly GatewayTool[]) => readonly string[];
}

const MAX_DESCRIPTION = 100;

/** Prints the servers, their states and their tools. The exit code is 1 if a server is not available. */
export async function listTools(options: ListToolsOptions, signal: AbortSignal): Promise<number> {
  const { gateway, json, out, isTerminal, offered } = options;
  const redact = options.redactor.inLogs;
  await whenStarted(options, signal);
  const { servers = [], tools = [] } = gateway ?? {};
  const names = offered(tools);
  if (json) {
    const shown = servers.map((server) => ({ ...server, since: server.since.toISOString() }));
    const grounded = tools.map((tool) => ({ ...tool, offered: names.includes(`${tool.server}/${tool.name}`) }));
    const text = redactedJson({ servers: shown, tools: grounded }, redact, 2);
    out(`${isTerminal ? withoutUnsafeCharacters(text) : text}\n`);
  } else {
    if (servers.length === 0) out(`${NO_SERVERS}\n`);
    const markOf = (name: string) => (names.length === 0 ? '' : names.includes(name) ? '* ' : '  ');
    for (const { name, state, transport, lastError } of servers) {
      const reason = state === 'available' || lastError === undefined ? '' : `: ${redact(cleanLine(lastError))}`;
      out(`${name}: ${state} (${transport})${reason}\n`);
      for (const tool of tools.filter(({ server }) => server === name))
        out(`  ${markOf(`${name}/${tool.name}`)}${redact(describe(tool))}\n`);
    }
    if (names.length > 0) out('* offered to the model in answers (grounding.tools)\n');
  }
  return servers.every(({ state }) => state === 'available') ? SUCCEEDED : FAILED;
}

/** Resolves when every server has started, or has failed. */
export async function whenStarted(
  options: CommandContext & { readonly gateway: Pick<VisibleGateway, 'whenStarted'> | undefined },
  signal: AbortSignal,
): Promise<void> {
  const line = options.gateway && (await openLine(options, 'Starting the servers'));
  await options.gateway?.whenStarted(Number.POSITIVE_INFINITY, signal);
  line?.end();
}

function describe({ name: rawName, description }: GatewayTool): string {
  const name = cleanLine(rawName);
  const line = cleanLine(description.split('\n')[0] ?? '');
  // At a word, if there is one near the end.
  const short = line.length > MAX_DESCRIPTION ? clip(line, MAX_DESCRIPTION).replace(/(?<=.{50})\s\S*…$/, '…') : line;
  return short === '' ? name : `${name}: ${short}`;
}
