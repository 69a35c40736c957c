import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { readText } from './files.ts';

/** An entry in the form of the YAML file, and where it comes from. */
interface FileEntry {
  readonly value: unknown;
  readonly where: string;
  readonly file: string;
}

interface ServersFile {
  readonly entries: readonly FileEntry[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads the `mcpServers` JSON of other MCP clients, or the `servers` of VS Code (ruling G1). Comments are allowed. */
export function readServersFile(file: string): ServersFile {
  const problem = (message: string) => ({ entries: [], problems: [{ where: file, message }] });
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
  if (!isObject(servers)) return problem('expected an object mcpServers (or servers, as VS Code writes it)');
  const problems: ConfigProblem[] = [];
  const entries = Object.entries(servers).flatMap(([name, server]): readonly FileEntry[] => {
    const where = `${key}.${name}`;
    if (!isObject(server)) {
      problems.push({ where, message: 'expected a server: an object with a command or a url', file });
      return [];
    }
    if (server.disabled === true || server.enabled === false) return [];
    const input = /\$\{input:[^}]*\}/.exec(JSON.stringify(server))?.[0];
    if (input !== undefined) {
      problems.push({
        where,
        value: input,
        message: 'this program cannot ask for inputs; use an environment variable',
        file,
      });
      return [];
    }
    return [{ value: toEntry(name, server), where, file }];
  });
  return { entries, problems };
}

/** The same in the form of the YAML file; keys of other programs are ignored. */
function toEntry(name: string, server: JsonObject): JsonObject {
  const { command, args, env, cwd, url, serverUrl, type, headers } = withEnvironmentNames(server) as JsonObject;
  const isRemote = command == null;
  const transport = type === 'sse' ? 'sse' : /^(?:streamable-?)?http$/i.test(String(type)) ? 'http' : undefined;
  return { name, ...(isRemote ? { url: url ?? serverUrl, headers, transport } : { command, args, env, cwd }) };
}

/** `${env:NAME}` is `${NAME}`. */
function withEnvironmentNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replace(/\$\{env:/g, '${'));
}
