import type { ParseError } from 'jsonc-parser';
import { BUILT_IN_SERVER } from '../../../domain/gateway/call-origin.ts';
import { uniqueNames } from '../../../domain/gateway/unique-names.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { readText } from '../files/local-files.ts';
import type { Report } from './problems.ts';
import { SERVER_NAME } from './server-keys.ts';

/** An entry in the form of the YAML file. */
export interface FileEntry {
  readonly value: unknown;
  readonly where: string;
  /** The name in the file, if it cannot be the name of a server. */
  readonly renamedFrom?: string;
}

/**
 * Reads the `mcpServers` JSON of other MCP clients, or the `servers` of VS Code. Comments are allowed. Entries
 * that are disabled are left out, as are those that run this program, with a notice.
 */
export async function readServersFile(file: string, report: Report, notify: Report): Promise<readonly FileEntry[]> {
  const { parse, printParseErrorCode } = await import('jsonc-parser');
  const content = readText(file);
  const text = 'text' in content ? content.text : '{}';
  const errors: ParseError[] = [];
  const json: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  const key = isObject(json) && isObject(json.mcpServers) ? 'mcpServers' : 'servers';
  const servers = isObject(json) ? json[key] : undefined;
  const isOfProjects = isObject(json) && isObject(json.projects);
  if ('reason' in content) report(file, `expected a JSON file with servers that can be read (${content.reason})`);
  else if (first !== undefined) {
    const line = text.slice(0, first.offset).split('\n').length;
    report(file, `expected JSON (${printParseErrorCode(first.error)} in line ${line})`);
  } else if (!isObject(servers))
    report(file, isOfProjects ? `expected an object mcpServers; ${OF_PROJECTS}` : NO_SERVERS);
  else if (isOfProjects && Object.keys(servers).length === 0) notify(key, OF_PROJECTS);
  if (first !== undefined || !isObject(servers)) return [];
  const entries = Object.entries(servers).filter(([name, server]) => {
    if (!isObject(server)) return true;
    if (server.disabled === true || server.enabled === false) return false;
    const isOwn = runsThisProgram(server.command, server.args);
    if (isOwn) notify(`${key}.${name}`, OWN);
    return !isOwn;
  });
  const names = usableNames(entries.map(([name]) => name));
  return entries.map(([name, server], index) => ({
    where: `${key}.${name}`,
    ...(names[index] === name ? {} : { renamedFrom: name }),
    value: isObject(server) ? toEntry(names[index] ?? '', server) : server,
  }));
}

const NO_SERVERS = 'expected an object mcpServers (or servers, as VS Code writes it)';
const OF_PROJECTS =
  'the servers in this file belong to projects: use the .mcp.json of a project, or add servers with claude mcp add --scope user';
const OWN = 'it runs this program, which cannot be a server of itself; this server is left out';

/** Changes names that cannot be names of servers: `my server` becomes `my-server`. The result does not depend on the order. */
function usableNames(names: readonly string[]): readonly string[] {
  const isUsable = (name: string) => SERVER_NAME.fromText(name) === name;
  const taken = new Set([...names.filter(isUsable), BUILT_IN_SERVER]);
  const changed = names.filter((name) => !isUsable(name));
  const items = changed.map((name) => {
    const text = name.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'server';
    return { text, identity: name };
  });
  const usable = uniqueNames(items, { maxLength: 32, separator: '-', taken });
  return names.map((name) => usable[changed.indexOf(name)] ?? name);
}

/** A server in the form of the YAML file. Keys of other programs are ignored. */
function toEntry(name: string, { command, args, env, cwd, url, serverUrl, type, headers }: JsonObject): JsonObject {
  if (command != null) return { name, command, args, env, cwd };
  const transport = type === 'sse' ? 'sse' : /^(?:streamable-?)?http$/i.test(String(type)) ? 'http' : undefined;
  return { name, url: url ?? serverUrl, headers, transport };
}

const COMMAND = /(?:^|[\\/])openai-responses-mcp(?:\.(?:cmd|exe|ps1))?$/i;
/** Matches the package as `npx` takes it, the image, or the main file of an installation, but not a folder of the same name. */
const ARGUMENT =
  /^(?:--package=)?(?:(?:github:|ghcr\.io\/)uchimanajet7\/)?openai-responses-mcp(?:[@:#].*)?$|[\\/]openai-responses-mcp[\\/]build[\\/]index\.js$/;

/** Whether a command line starts this program. If it is started in another way, its environment shows that it is a server of itself. */
function runsThisProgram(command: unknown, args: unknown): boolean {
  const texts = [command, ...(Array.isArray(args) ? args : [])].map(String);
  // A shell gets a complete command line as one argument.
  const words = texts.flatMap((text) => [text, ...text.split(/\s+/)]);
  return COMMAND.test(String(command)) || words.some((word) => ARGUMENT.test(word));
}
