import { dirname } from 'node:path';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { uniqueNames } from '../../../domain/unique-names.ts';
import { readText } from './files.ts';
import { runsThisProgram } from './runs-this-program.ts';
import { SERVER_NAME } from './server-entry.ts';

/** An entry in the form of the YAML file, and where it comes from. */
export interface FileEntry {
  readonly value: unknown;
  readonly where: string;
  readonly file: string | undefined;
  /** Why it cannot be used, as far as that is known. */
  readonly problem?: ConfigProblem;
  /** Its name in the file, if that cannot be the name of a server. */
  readonly renamedFrom?: string;
}

interface ServersFile {
  /** Without those that are disabled or run this program. */
  readonly entries: readonly FileEntry[];
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly ConfigProblem[];
}

/** Reads the `mcpServers` JSON of other MCP clients, or the `servers` of VS Code (ruling G1). Comments are allowed. */
export function readServersFile(file: string): ServersFile {
  const problem = (message: string) => ({ entries: [], problems: [{ where: file, message }], notices: [] });
  const content = readText(file);
  if ('reason' in content) return problem(`expected a JSON file with servers that can be read (${content.reason})`);
  const errors: ParseError[] = [];
  const json: unknown = parse(content.text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    const line = content.text.slice(0, first.offset).split('\n').length;
    return problem(`expected JSON (${printParseErrorCode(first.error)} in line ${line})`);
  }
  const key = isObject(json) && isObject(json.mcpServers) ? 'mcpServers' : 'servers';
  const servers = isObject(json) ? json[key] : undefined;
  if (!isObject(servers)) return problem(isObject(json) && isObject(json.projects) ? OF_PROJECTS : NO_SERVERS);
  const all = Object.entries(servers).map(([name, server]) => ({ name, server, where: `${key}.${name}` }));
  const enabled = all.filter(
    ({ server }) => !isObject(server) || !(server.disabled === true || server.enabled === false),
  );
  const isOwn = ({ server }: { readonly server: unknown }) =>
    isObject(server) && runsThisProgram(server.command, server.args, dirname(file));
  const others = enabled.filter((entry) => !isOwn(entry));
  const names = usableNames(others.map(({ name }) => name));
  return {
    entries: others.map(({ name, server, where }, index) => {
      const usable = names[index] ?? '';
      return {
        where,
        file,
        ...(usable === name ? {} : { renamedFrom: name }),
        ...(isObject(server)
          ? toEntry(usable, server, { where, file })
          : { value: {}, problem: { where, message: NO_SERVER, file } }),
      };
    }),
    problems: [],
    notices: enabled.filter(isOwn).map(({ where }) => ({ where, message: OWN, file })),
  };
}

const NO_SERVERS = 'expected an object mcpServers (or servers, as VS Code writes it)';
const OF_PROJECTS =
  'expected an object mcpServers; the servers in this file belong to projects: use the .mcp.json of a project, or add servers with claude mcp add --scope user';
const NO_SERVER = 'expected a server: an object with a command or a url';
const OWN = 'it runs this program, which cannot be a server of itself; this server is left out';

/** The names, those that cannot be names of servers changed: `my server` is `my-server`. They do not depend on the order. */
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

/** The same in the form of the YAML file; keys of other programs are ignored. */
function toEntry(name: string, server: JsonObject, at: { readonly where: string; readonly file: string }) {
  const input = /\$\{input:[^}]*\}/.exec(JSON.stringify(server))?.[0];
  const message = 'this program cannot ask for inputs; use an environment variable';
  const { command, args, env, cwd, url, serverUrl, type, headers } = withEnvironmentNames(server) as JsonObject;
  const isRemote = command == null;
  const transport = type === 'sse' ? 'sse' : /^(?:streamable-?)?http$/i.test(String(type)) ? 'http' : undefined;
  const value = { name, ...(isRemote ? { url: url ?? serverUrl, headers, transport } : { command, args, env, cwd }) };
  return { value, ...(input !== undefined && { problem: { ...at, value: input, message } }) };
}

/** `${env:NAME}` is `${NAME}`. */
function withEnvironmentNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\$\{env:/g, '${'));
}
