import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { looksLikeKey } from '../../../domain/values/redaction.ts';
import { GATEWAY_MARKER, type NamedText, variableText } from '../network/environment.ts';
import type { ConfigTree } from './keys.ts';
import { reportUnaccepted } from './kinds.ts';
import { type Report, reporter } from './problems.ts';
import { clientSecrets, secretVariables, serverSecrets } from './secrets.ts';
import { clientSecretVariable } from './server-auth.ts';
import { readServerEntry, type ServerEntry } from './server-entry.ts';
import { SERVER_TABLE } from './server-keys.ts';
import { type FileEntry, readServersFile } from './servers-file.ts';
import type { ConfigOptions } from './set-keys.ts';
import { shownServer } from './shown-config.ts';

/** The variable with the time limit of all servers without `timeout`. It has no key in YAML. */
const DEFAULT_TIMEOUT = 'DEFAULT_TIMEOUT';
const DEFAULT_TIMEOUT_MS = 30_000;
const NO_SERVER = 'expected a server: an object with a command or a url';
const KEY_ADVICE =
  'expected no API key: set the key in a variable, and write \u0024{NAME} with the name of the variable';

/** No server is read then, because its variables may exist only in the process that started this one. */
const NESTED: ConfigProblem = {
  where: GATEWAY_MARKER,
  message: 'this program was started as a server of its own gateway, so it starts no servers itself',
};

/** Reads the section `servers` and the servers file. */
export async function readServers(
  config: ConfigTree,
  { environment, unset }: Pick<ConfigOptions, 'environment' | 'unset'>,
  yamlFile: string | undefined,
  problems: ConfigProblem[],
) {
  const isConfigured = config.servers !== undefined || config.gateway.serversFile !== undefined;
  const isNested = isConfigured && variableText(environment, GATEWAY_MARKER) !== '';
  const notices: ConfigProblem[] = isNested ? [NESTED] : [];
  const { section = [], serversFile } = isNested ? {} : { section: config.servers, ...config.gateway };
  const inFile =
    serversFile === undefined
      ? []
      : await readServersFile(serversFile, reporter(problems), reporter(notices, serversFile));
  const entries: readonly GivenEntry[] = [
    ...section.map((value, index) => ({ value, where: `servers[${index}]`, file: yamlFile, isYaml: true })),
    ...inFile.map((entry) => ({ ...entry, file: serversFile, isYaml: false })),
  ];
  // No server inherits these variables.
  const ownSecrets = [...secretVariables(config), ...section.flatMap((value) => clientSecretVariable(value) ?? [])];
  const timeout = isConfigured && !isNested ? variableText(environment, DEFAULT_TIMEOUT) : '';
  const defaultTimeoutMs = readDefaultTimeout(timeout, reporter(problems));
  const expanded: NamedText[] = [];
  const read = readEntries(entries, { environment, unset, expanded, defaultTimeoutMs, ownSecrets });
  const { servers, written, known, broken } = read;
  problems.push(...read.problems);
  notices.push(...read.renamed);
  const leftOut = broken.flatMap((found) => found.slice(0, 1));
  if (broken.length === inFile.length) problems.push(...broken.flat());
  else notices.push(...leftOut.map((first) => ({ ...first, message: `${first.message}; this server is left out` })));
  return {
    /** Undefined if no servers are configured. */
    servers: isConfigured ? servers : undefined,
    /** The servers for `--show-config`. `isHttp`: whether the program serves HTTP. */
    shown: (isHttp: boolean) =>
      isConfigured ? servers.map((entry, index) => shownServer(written[index] ?? {}, entry, isHttp)) : undefined,
    /** The values of servers that must not be shown. */
    secrets: serverSecrets(servers, expanded),
    clientSecrets: clientSecrets(servers),
    /** The variables that contain keys of this program and client secrets. */
    ownSecrets,
    /** The variables that apply to all servers. */
    names: timeout === '' ? [] : [DEFAULT_TIMEOUT],
    /** The variables that entries name. */
    ofEntries: [...expanded.map(([name]) => name), ...servers.flatMap(inheritedVariables)],
    /** The names of all servers that were not left out, even if they have problems; undefined if no servers were read. */
    known: isNested ? undefined : known,
    /** Which entries of the servers file were left out or renamed. */
    notices,
  };
}

/** An entry, and the file that contains it. */
interface GivenEntry extends FileEntry {
  readonly file: string | undefined;
  /** Whether this is the YAML file, whose problems end the program. */
  readonly isYaml: boolean;
}

type Context = Omit<Parameters<typeof readServerEntry>[1], 'folder' | 'onUnset'> & Pick<ConfigOptions, 'unset'>;

/** Reads entries in their order. */
function readEntries(entries: readonly GivenEntry[], context: Context) {
  const servers: ServerEntry[] = [];
  const written: JsonObject[] = [];
  const problems: ConfigProblem[] = [];
  /** The problems of each entry that is left out. */
  const broken: (readonly ConfigProblem[])[] = [];
  const renamed: ConfigProblem[] = [];
  const known: string[] = [];
  for (const given of entries) {
    const { value, name, entry, found } = readEntry(given, known, context);
    const isTaken = name !== undefined && known.includes(name);
    // The entry may be right for the program that wrote the file, so it is only left out. A name that is taken could mean either server.
    if (!given.isYaml && !isTaken && found.length > 0) {
      broken.push(found);
      continue;
    }
    problems.push(...found);
    if (name !== undefined && !isTaken) known.push(name);
    if (entry && found.length === 0) {
      servers.push(entry);
      written.push(value);
    }
    if (given.renamedFrom === undefined) continue;
    const message = `the server is called ${name} here, because names have only letters, digits, - and _`;
    reporter(renamed, given.file)(`${given.where}.name`, message, given.renamedFrom);
  }
  return { servers, written, known, problems, broken, renamed };
}

/** Reads one entry. Without problems, it is complete. `taken` has the names of the servers before it. */
function readEntry({ value: given, where, file, isYaml }: GivenEntry, taken: readonly string[], context: Context) {
  const found: ConfigProblem[] = [];
  const reporterOf = (problems: ConfigProblem[]): Report => {
    const reportHere = reporter(problems, file);
    return (key, ...rest) => reportHere(key === '' ? where : `${where}.${key}`, ...rest);
  };
  const report = reporterOf(found);
  const onUnset = context.unset && reporterOf(context.unset);
  const value = isObject(given) ? given : {};
  const name = typeof value.name === 'string' ? value.name.trim() : undefined;
  if (name !== undefined && taken.includes(name)) report('name', 'another server already has this name', value.name);
  if (isYaml) checkKeys(value, report);
  const folder = file === undefined ? process.cwd() : dirname(file);
  const entry = isObject(given)
    ? readServerEntry(value, { ...context, folder, onUnset }, report)
    : report('', NO_SERVER);
  return { value, name, entry, found };
}

function readDefaultTimeout(text: string, report: Report): number {
  const { kind } = SERVER_TABLE.timeout;
  const read = kind.fromText(text);
  if (text !== '' && read === undefined) reportUnaccepted(kind, text, DEFAULT_TIMEOUT, report);
  return read ?? DEFAULT_TIMEOUT_MS;
}

function inheritedVariables({ connection }: ServerEntry): readonly string[] {
  return connection.kind === 'child' && connection.inheritEnv !== true ? connection.inheritEnv : [];
}

/** Reports API keys, because the file may be shared. */
function checkKeys(value: JsonObject, report: Report): void {
  for (const section of ['envs', 'env', 'headers']) {
    const members = value[section];
    for (const [name, text] of isObject(members) ? Object.entries(members) : []) {
      // A header may have a scheme before the key: `Bearer sk-...`.
      if (looksLikeKey(String(text).replace(/^\s*[a-z]+\s+/i, ''))) report(`${section}.${name}`, KEY_ADVICE);
    }
  }
}
