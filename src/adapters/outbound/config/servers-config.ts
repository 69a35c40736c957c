import { dirname } from 'node:path';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { MAX_FUNCTIONS } from '../../../domain/grounded/grounding.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import { looksLikeKey, MASK } from '../../../domain/values/redaction.ts';
import { type Environment, type NamedText, variableText } from '../network/environment.ts';
import type { ConfigTree } from './config-tree.ts';
import { reportUnaccepted } from './layers.ts';
import { nearest } from './nearest.ts';
import { type Report, reporter } from './problems.ts';
import { clientSecretVariable } from './server-auth.ts';
import { readServerEntry, SERVER_TABLE, type ServerEntry } from './server-entry.ts';
import { clientSecrets, serverSecrets } from './server-secrets.ts';
import { type FileEntry, readServersFile } from './servers-file.ts';

/** The variable has no key in YAML: it is for all servers that have no `timeout`. */
const DEFAULT_TIMEOUT = 'DEFAULT_TIMEOUT';
const DEFAULT_TIMEOUT_MS = 30_000;
const KEY_ADVICE =
  'expected no API key: set the key in a variable, and write \u0024{NAME} with the name of the variable';

interface ServersOptions {
  readonly config: ConfigTree;
  readonly environment: Environment;
  /** The YAML file, if there is one. */
  readonly file: string | undefined;
  /** The variables that contain our keys, which no server inherits (ruling G2); without those of client secrets. */
  readonly ownSecrets: readonly string[];
}

/**
 * Reads the section `servers` and the servers file (ruling G1): the servers, also as configured without the values of `envs` and `headers`
 * (`shown`), what must not be shown of them, the client secrets and their variables (`own`: they count as keys of this program), the variables
 * that were used other than those that entries name, and which entries of the servers file were left out or renamed (`notices`). Import this only if servers are configured.
 */
export function readServers(
  { config, environment, file: yamlFile, ownSecrets }: ServersOptions,
  problems: ConfigProblem[],
) {
  const notices: ConfigProblem[] = [];
  const { serversFile } = config.gateway;
  const inFile =
    serversFile === undefined ? [] : readServersFile(serversFile, reporter(problems), reporter(notices, serversFile));
  const inYaml = (config.servers ?? []).map((value, index) => ({ value, where: `servers[${index}]` }));
  const clientSecretVariables = inYaml.flatMap(({ value }) => clientSecretVariable(value) ?? []);
  const { kind } = SERVER_TABLE.timeout;
  const timeout = variableText(environment, DEFAULT_TIMEOUT);
  const timeoutMs = kind.fromText(timeout);
  if (timeout !== '' && timeoutMs === undefined) reportUnaccepted(kind, timeout, DEFAULT_TIMEOUT, reporter(problems));
  const servers: ServerEntry[] = [];
  const shown: JsonObject[] = [];
  const expanded: NamedText[] = [];
  const names = new Set<string>();
  /** The problems with each entry of the servers file that has some. */
  const broken: (readonly ConfigProblem[])[] = [];
  const entries: readonly FileEntry[] = [...inYaml, ...inFile];
  for (const [index, { value, where, unusable, renamedFrom }] of entries.entries()) {
    const isYaml = index < inYaml.length;
    const file = isYaml ? yamlFile : serversFile;
    const found: ConfigProblem[] = [];
    const reportHere = reporter(found, file);
    const report: Report = (key, ...rest) => reportHere(key === '' ? where : `${where}.${key}`, ...rest);
    if (unusable !== undefined) report('', unusable.message, unusable.received);
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
      ownSecrets: [...ownSecrets, ...clientSecretVariables],
    };
    const entry = unusable === undefined ? readServerEntry(value, context, report) : undefined;
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
      reporter(notices, file)(`${where}.name`, message, renamedFrom);
    }
  }
  if (broken.length > 0 && broken.length === inFile.length) problems.push(...broken.flat());
  else {
    for (const [first] of broken)
      if (first !== undefined) notices.push({ ...first, message: `${first.message}; this server is left out` });
  }
  const secrets = serverSecrets(servers, expanded);
  const own = { variables: clientSecretVariables, values: clientSecrets(servers) };
  return { servers, shown, secrets, own, names: timeout === '' ? [] : [DEFAULT_TIMEOUT], notices };
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
  const { envs, env, headers, auth, ...rest } = value;
  const shownAuth = isObject(auth) && auth.client_secret != null ? { ...auth, client_secret: MASK } : auth;
  return withoutUndefined({ ...rest, envs: masked(envs), env: masked(env), headers: masked(headers), auth: shownAuth });
}

/** The tools of a server that is not configured can never be offered; neither can more than the API accepts. */
export function checkGroundedTools(
  tools: NonNullable<ConfigTree['grounding']['tools']>,
  servers: readonly { readonly name: string }[],
  report: Report,
): void {
  const names = servers.map(({ name }) => name);
  const known = names.length === 0 ? 'none are configured' : `the servers are ${names.join(', ')}`;
  for (const server of Object.keys(tools).filter((server) => !names.includes(server)))
    report('grounding.tools', `expected the name of a server; ${known}`, server);
  const listed = Object.values(tools).reduce((sum, list) => sum + (list === 'all' ? 0 : list.length), 0);
  if (listed > MAX_FUNCTIONS) report('grounding.tools', `expected at most ${MAX_FUNCTIONS} tools`, listed);
}
