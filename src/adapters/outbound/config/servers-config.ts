import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/json.ts';
import { looksLikeKey, MASK } from '../../../domain/redaction.ts';
import type { ConfigTree } from './config-tree.ts';
import { type Environment, variableText } from './environment.ts';
import { reportIn, reportUnaccepted } from './layers.ts';
import { nearest } from './nearest.ts';
import { readServerEntry, SERVER_TABLE, type ServerEntry } from './server-entry.ts';
import { type NamedText, serverSecrets } from './server-secrets.ts';
import { type FileEntry, readServersFile } from './servers-file.ts';
import type { Report } from './value-kinds.ts';

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

interface ServersOptions {
  readonly config: ConfigTree;
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
export function readServers({ config, environment, file: yamlFile, ownSecrets }: ServersOptions): ServersLayer {
  const { serversFile } = config.gateway;
  const fromFile =
    serversFile === undefined ? { entries: [], problems: [], notices: [] } : readServersFile(serversFile);
  const inYaml = (config.servers ?? []).map((value, index) => ({ value, where: `servers[${index}]`, file: yamlFile }));
  const entries: readonly FileEntry[] = [...inYaml, ...fromFile.entries];
  const problems = [...fromFile.problems];
  const notices = [...fromFile.notices];
  const { kind } = SERVER_TABLE.timeout;
  const timeout = variableText(environment, DEFAULT_TIMEOUT);
  const timeoutMs = kind.fromText(timeout);
  if (timeout !== '' && timeoutMs === undefined) reportUnaccepted(kind, timeout, reportIn(problems, DEFAULT_TIMEOUT));
  const servers: ServerEntry[] = [];
  const shown: JsonObject[] = [];
  const expanded: NamedText[] = [];
  const names = new Set<string>();
  /** The problems with each entry of the servers file that has some. */
  const broken: (readonly ConfigProblem[])[] = [];
  for (const [index, { value, where, file, problem, renamedFrom }] of entries.entries()) {
    const isYaml = index < inYaml.length;
    const found: ConfigProblem[] = problem === undefined ? [] : [problem];
    const report = reportIn(found, where, file);
    if (!isObject(value)) {
      // A list may contain servers, with their secrets.
      const received = Array.isArray(value) ? undefined : value;
      report('', 'expected a server: an object with a name, and a command or a url', received);
      problems.push(...found);
      continue;
    }
    if (isYaml) checkYaml(value, report);
    const name = typeof value.name === 'string' ? value.name.trim() : undefined;
    const isTaken = name !== undefined && names.has(name);
    if (isTaken) report('name', 'another server already has this name', value.name);
    if (name !== undefined) names.add(name);
    const context = {
      environment,
      expanded,
      folder: file === undefined ? process.cwd() : dirname(file),
      defaultTimeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      ownSecrets,
    };
    const entry = problem === undefined ? readServerEntry(value, context, report) : undefined;
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
      reportIn(notices, `${where}.name`, file)('', message, renamedFrom);
    }
  }
  if (broken.length > 0 && broken.length === fromFile.entries.length) problems.push(...broken.flat());
  else {
    for (const [first] of broken)
      if (first !== undefined) notices.push({ ...first, message: `${first.message}; this server is left out` });
  }
  const secrets = serverSecrets(servers, expanded);
  return { servers, shown, secrets, names: timeout === '' ? [] : [DEFAULT_TIMEOUT], problems, notices };
}

/** Reports unknown keys, and API keys: a file that is shared must contain none (ruling 15). */
function checkYaml(value: JsonObject, report: Report): void {
  const known = Object.keys(SERVER_TABLE);
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) report(key, `unknown key; did you mean ${nearest(key, known)}?`);
  }
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
