import { dirname } from 'node:path';
import { closest } from 'fastest-levenshtein';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/json.ts';
import { looksLikeKey, MASK } from '../../../domain/redaction.ts';
import { type Environment, variableText } from './environment.ts';
import type { Values } from './keys.ts';
import { readServerEntry, SERVER_KEYS, type ServerEntry } from './server-entry.ts';
import { serverSecrets } from './server-secrets.ts';
import type { Variables } from './server-texts.ts';
import { type FileEntry, readServersFile } from './servers-file.ts';
import { integer } from './value-kinds.ts';

/** The section `servers` and the servers file, or the problems with them. */
export interface ServersLayer {
  readonly servers: readonly ServerEntry[];
  /** As configured, without the values of `envs` and `headers`, for `--show-config`. */
  readonly shown: readonly JsonObject[];
  /** What must not be shown of them. */
  readonly secrets: readonly string[];
  /** The variables that were used, other than those that entries name. */
  readonly names: readonly string[];
  readonly problems: readonly ConfigProblem[];
  /** Which entries of the servers file were left out or renamed. */
  readonly notices: readonly ConfigProblem[];
}

export interface ServersOptions {
  readonly values: Values;
  readonly environment: Environment;
  /** The YAML file, if one was read. */
  readonly file: string | undefined;
  /** The variables that contain our keys, which no server inherits (ruling G2). */
  readonly ownSecrets: readonly string[];
}

/** The variable has no key in YAML: it is for all servers that have no `timeout`. */
const DEFAULT_TIMEOUT = 'DEFAULT_TIMEOUT';
const DEFAULT_TIMEOUT_MS = 30_000;
const KEY_ADVICE =
  'expected no API key: set the key in a variable, and write \u0024{NAME} with the name of the variable';

/** Reads every server (ruling G1). Import this only if servers are configured. */
export async function readServers({ values, environment, file, ownSecrets }: ServersOptions): Promise<ServersLayer> {
  const problems: ConfigProblem[] = [];
  const notices: ConfigProblem[] = [];
  const inYaml = (values.get('servers') as readonly unknown[] | undefined) ?? [];
  const path = values.get('gateway.servers_file');
  const fromFile = typeof path === 'string' ? readServersFile(path) : { entries: [], problems: [], notices: [] };
  problems.push(...fromFile.problems);
  notices.push(...fromFile.notices);
  const timeout = readDefaultTimeout(environment, problems);
  const located: readonly (Omit<FileEntry, 'file'> & {
    readonly file: string | undefined;
    readonly isYaml: boolean;
  })[] = [
    ...inYaml.map((value, index) => ({ value, where: `servers[${index}]`, file, isYaml: true })),
    ...fromFile.entries.map((entry) => ({ ...entry, isYaml: false })),
  ];
  const servers: ServerEntry[] = [];
  const shown: JsonObject[] = [];
  const variables: Variables = { environment, expanded: [] };
  const names = new Set<string>();
  /** The problems with each entry of the servers file that has some. */
  const broken: (readonly ConfigProblem[])[] = [];
  for (const { value, where, file, isYaml, problem, renamedFrom } of located) {
    const found: ConfigProblem[] = problem === undefined ? [] : [problem];
    const report = (key: string, message: string, received?: unknown) =>
      found.push(
        withoutUndefined({
          where: key === '' ? where : `${where}.${key}`,
          value: received === undefined ? undefined : toText(received),
          message,
          file,
        }),
      );
    if (!isObject(value)) {
      // A list may contain servers, with their secrets.
      const shown = Array.isArray(value) ? undefined : value;
      report('', 'expected a server: an object with a name, and a command or a url', shown);
      problems.push(...found);
      continue;
    }
    for (const key of isYaml ? Object.keys(value) : []) {
      if (!SERVER_KEYS.includes(key)) report(key, `unknown key; did you mean ${closest(key, [...SERVER_KEYS])}?`);
    }
    if (isYaml) reportKeys(value, report);
    const folder = file === undefined ? process.cwd() : dirname(file);
    const { name } = value;
    const isTaken = typeof name === 'string' && names.has(name.trim());
    if (isTaken) report('name', 'another server already has this name', name);
    else if (typeof name === 'string') names.add(name.trim());
    const entry =
      problem === undefined
        ? readServerEntry(value, { variables, folder, defaultTimeoutMs: timeout.ms, ownSecrets }, report)
        : undefined;
    // Other programs write the file, for which an entry may be right. But a name that is taken could mean either server.
    if (!isYaml && !isTaken && found.length > 0) {
      broken.push(found);
      continue;
    }
    problems.push(...found);
    shown.push(withoutValues(value));
    if (entry === undefined) continue;
    servers.push(entry);
    if (renamedFrom !== undefined) {
      const message = `the server is called ${entry.name} here: names have only letters, digits, - and _`;
      notices.push(withoutUndefined({ where: `${where}.name`, value: renamedFrom, message, file }));
    }
  }
  if (broken.length > 0 && broken.length === fromFile.entries.length) problems.push(...broken.flat());
  else notices.push(...broken.flatMap(([first]) => (first === undefined ? [] : [leftOut(first)])));
  const secrets = serverSecrets(servers, variables.expanded);
  return { servers, shown, secrets, names: timeout.names, problems, notices };
}

function leftOut(problem: ConfigProblem): ConfigProblem {
  return { ...problem, message: `${problem.message}; this server is left out` };
}

function readDefaultTimeout(environment: Environment, problems: ConfigProblem[]) {
  const text = variableText(environment, DEFAULT_TIMEOUT);
  if (text === '') return { ms: DEFAULT_TIMEOUT_MS, names: [] };
  const kind = integer(1, undefined, ' of milliseconds');
  const ms = kind.fromText(text);
  if (typeof ms !== 'number') {
    problems.push({ where: DEFAULT_TIMEOUT, value: text, message: `expected ${kind.accepted}` });
  }
  return { ms: typeof ms === 'number' ? ms : DEFAULT_TIMEOUT_MS, names: [DEFAULT_TIMEOUT] };
}

/** A file that is shared must contain no keys (ruling 15). */
function reportKeys(value: JsonObject, report: (key: string, message: string) => void): void {
  for (const section of ['envs', 'env', 'headers']) {
    const members = value[section];
    for (const [name, text] of isObject(members) ? Object.entries(members) : []) {
      // Headers also name a scheme: `Bearer sk-...`.
      if (looksLikeKey(String(text).replace(/^\s*[a-z]+\s+/i, ''))) report(`${section}.${name}`, KEY_ADVICE);
    }
  }
}

function withoutValues(value: JsonObject): JsonObject {
  const masked = (members: unknown) =>
    isObject(members) ? Object.fromEntries(Object.keys(members).map((name) => [name, MASK])) : undefined;
  const { envs, env, headers, ...rest } = value;
  return withoutUndefined({ ...rest, envs: masked(envs), env: masked(env), headers: masked(headers) });
}

function toText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
