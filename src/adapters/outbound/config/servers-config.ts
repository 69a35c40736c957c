import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import { looksLikeKey } from '../../../domain/values/redaction.ts';
import { GATEWAY_MARKER, type NamedText, variableText } from '../network/environment.ts';
import { toHelper, withHeaders, withHelper } from './headers-helper.ts';
import type { ConfigTree } from './keys.ts';
import { reportUnaccepted } from './kinds.ts';
import { type Report, reporter, withoutSecrets } from './problems.ts';
import { clientSecrets, secretVariables, serverSecrets } from './secrets.ts';
import { clientSecretVariable } from './server-auth.ts';
import { type Completed, readServerEntry, type ServerEntry } from './server-entry.ts';
import { SERVER_TABLE } from './server-keys.ts';
import type { FileEntry } from './servers-file.ts';
import type { ConfigOptions } from './set-keys.ts';
import { shownServer } from './shown-server.ts';

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

/** What is read of servers. */
export type ReadServers = Awaited<ReturnType<typeof readServers>>;

/** Reads the section `servers` and the servers files, of which at least one is configured. */
export async function readServers(
  config: ConfigTree,
  { environment, unset }: Pick<ConfigOptions, 'environment' | 'unset'>,
  yamlFile: string | undefined,
  problems: ConfigProblem[],
) {
  const isNested = variableText(environment, GATEWAY_MARKER) !== '';
  const notices: ConfigProblem[] = isNested ? [NESTED] : [];
  const { section = [], serversFile = [] } = isNested ? {} : { section: config.servers, ...config.gateway };
  const expanded: NamedText[] = [];
  const files = await readFiles(serversFile, { environment, unset, expanded }, problems);
  notices.push(...files.flatMap((file) => file.notices));
  const inFiles = files.flatMap(({ entries, file }) => entries.map((entry) => ({ ...entry, file, isYaml: false })));
  const folder = yamlFile === undefined ? process.cwd() : dirname(yamlFile);
  const ofYaml = { ...YAML, references: { form: 'dollar', folder }, file: yamlFile, folder } as const;
  const entries: readonly GivenEntry[] = [
    ...section.map((value, index) => ({ ...ofYaml, value, where: `servers[${index}]` })),
    ...inFiles,
  ];
  // No server inherits these variables.
  const ownSecrets: readonly string[] = [
    ...secretVariables(config),
    ...section.flatMap((value) => clientSecretVariable(value) ?? []),
  ];
  const timeout = isNested ? '' : variableText(environment, DEFAULT_TIMEOUT);
  const defaultTimeoutMs = readDefaultTimeout(timeout, reporter(problems));
  const { inheritEnv } = config.gateway;
  const read = readEntries(entries, { environment, unset, expanded, defaultTimeoutMs, ownSecrets, inheritEnv });
  const { servers, written, known, broken } = read;
  problems.push(...read.problems);
  notices.push(...read.notices);
  if (broken.length === inFiles.length) problems.push(...broken.flatMap(({ found }) => found));
  else notices.push(...broken.flatMap(leftOut));
  return {
    /** Undefined if no servers are configured. */
    servers: servers as readonly ServerEntry[] | undefined,
    files: files.flatMap(({ read }) => read ?? []),
    /** The files of variables that entries name. */
    variableFiles: inFiles.flatMap(({ files = [] }) => files),
    /** The servers for `--show-config`. `isHttp`: whether the program serves HTTP. */
    shown: (isHttp: boolean): readonly JsonObject[] | undefined =>
      servers.map((entry, index) => shownServer(written[index] ?? {}, entry, isHttp)),
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

/** Reads the files of other clients, in their order. A file that is given twice is read once. */
async function readFiles(
  files: readonly string[],
  { unset, ...context }: Pick<ConfigOptions, 'environment' | 'unset'> & { readonly expanded: NamedText[] },
  problems: ConfigProblem[],
) {
  if (files.length === 0) return [];
  // The readers of all clients, which most starts do not need.
  const { readServersFile } = await import('./servers-file.ts');
  const onUnset = unset && reporter(unset);
  const reads = [...new Set(files)].map(async (file) => {
    const read = await readServersFile(file, { ...context, onUnset }, reporter(problems));
    return { ...read, file };
  });
  return Promise.all(reads);
}

/** An entry, and the file that contains it. */
interface GivenEntry extends FileEntry {
  readonly file: string | undefined;
  /** Whether this is the YAML file, whose problems end the program. */
  readonly isYaml: boolean;
}

/** What is the same for all entries of the YAML file. */
const YAML: Pick<GivenEntry, 'isYaml' | 'literal' | 'sources' | 'found'> = {
  isYaml: true,
  literal: new Set(),
  sources: new Map(),
  found: [],
};

/** The problems of an entry that is left out. */
interface Broken {
  readonly name: string | undefined;
  readonly found: readonly ConfigProblem[];
}

function leftOut({ name, found }: Broken): readonly ConfigProblem[] {
  const servers = name === undefined ? [] : [name];
  return found
    .slice(0, 1)
    .map((first) => ({ ...first, message: `${first.message}; this server is left out`, servers }));
}

type Context = Omit<Parameters<typeof readServerEntry>[1], keyof GivenEntry | 'onUnset' | 'values'> &
  Pick<ConfigOptions, 'unset'>;

/** Reads entries in their order. */
function readEntries(entries: readonly GivenEntry[], context: Context) {
  const servers: ServerEntry[] = [];
  const written: JsonObject[] = [];
  const problems: ConfigProblem[] = [];
  const broken: Broken[] = [];
  const notices: ConfigProblem[] = [];
  const known = new Map<string, GivenEntry>();
  for (const given of entries) {
    const { value, name = '', entry, found } = readEntry(given, context);
    const first = known.get(name);
    // The entry may be right for the program that wrote the file, so it is only left out.
    if (!given.isYaml && found.length > 0) {
      broken.push({ name, found });
      continue;
    }
    problems.push(...found);
    const { where, file } = given;
    if (first !== undefined && !given.isYaml) {
      const message = `a server of ${first.file} has this name and counts (${first.where}); this one is left out`;
      notices.push(withoutUndefined({ where, message, file, servers: [name] }));
      continue;
    }
    // In one file, the name could mean either server.
    if (first !== undefined) reporter(problems, file)(`${where}.name`, 'another server already has this name', name);
    else if (name !== '') known.set(name, given);
    if (entry && first === undefined && found.length === 0) {
      servers.push(entry);
      written.push(value);
    }
    if (given.renamedFrom === undefined) continue;
    const message = `the server is called ${name} here, because names have only letters, digits, - and _`;
    notices.push(
      withoutUndefined({ where: `${where}.name`, value: given.renamedFrom, message, file, servers: [name] }),
    );
  }
  return { servers, written, known: [...known.keys()], problems, broken, notices };
}

/** Reads one entry. Without problems, it is complete. */
function readEntry(entry: GivenEntry, context: Context) {
  const { value: given, where, file, isYaml, folder, references, literal, sources } = entry;
  const found = [...entry.found];
  const reporterOf = (problems: ConfigProblem[]): Report => {
    const reportHere = reporter(problems, file);
    return (key, ...rest) => reportHere(key === '' ? where : `${where}.${writtenKey(key, sources)}`, ...rest);
  };
  const report = reporterOf(found);
  const onUnset = context.unset && reporterOf(context.unset);
  const value = isObject(given) ? given : {};
  const name = typeof value.name === 'string' ? value.name.trim() : undefined;
  if (isYaml) checkKeys(value, report);
  const inContext = { ...context, folder, references, literal, isYaml, onUnset };
  const plain = isObject(given) ? readServerEntry(value, inContext, report) : report('', NO_SERVER);
  const helper = plain && entry.headersHelper && toHelper(entry.headersHelper, entry, plain);
  const read = plain && (helper === undefined ? plain : withHelper(plain, helper));
  if (read?.values === undefined) return { value, name, entry: read, found };
  const complete = (values: ReadonlyMap<string, string>): Completed => {
    const problems: ConfigProblem[] = [];
    const entry = readServerEntry(value, { ...inContext, expanded: [], values }, reporterOf(problems));
    const all = helper === undefined ? entry : withHeaders(entry, helper, values, reporterOf(problems));
    return problems.length > 0 ? { problems: problems.map(withoutSecrets) } : { entry: all };
  };
  return { value, name, entry: { ...read, complete }, found };
}

/** The path of a value as it is written in its file. */
function writtenKey(key: string, sources: FileEntry['sources']): string {
  const exact = sources.get(key);
  if (exact !== undefined) return exact;
  const [, target = '', rest = ''] = /^(.*?)(\[\d+\])$/.exec(key) ?? [];
  const source = sources.get(target) ?? target;
  return source === target ? key : source === 'command' ? source : `${source}${rest}`;
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
