import { statSync } from 'node:fs';
import type { ValueReference } from '../../../application/ports/values.ts';
import { isObject, parseJson, withoutUndefined } from '../../../domain/values/json.ts';
import { bareKey, MASK } from '../../../domain/values/redaction.ts';
import { expandPath, readNonEmptyText } from '../files/local-files.ts';
import { passwordsOf } from '../network/addresses.ts';
import { type Environment, type NamedText, shownName, variableText } from '../network/environment.ts';
import type { ConfigTree } from './keys.ts';
import type { Report } from './problems.ts';
import type { ServerEntry } from './server-entry.ts';
import { toCommand } from './value-references.ts';

/** The API key, if there is one. */
export interface ApiKey {
  /** The variable that contains the key, or that names a file or a command: the one to check if the key is wrong. */
  readonly apiKeyVariable: string;
  readonly apiKey?: string;
  /** The file or the command that has the key. That of a command is not read before it is needed. */
  readonly apiKeySource?: ValueReference;
  /** Whether other users of this machine can read the file with the key. */
  readonly isKeyFileShared?: boolean;
}

/** The key of a variable or, by variables with the suffixes `_FILE` and `_COMMAND`, of a file or a command. The first one that is set counts. */
export function readApiKey(environment: Environment, name: string, report: Report, notify: Report): ApiKey {
  const variable = shownName(name);
  const apiKey = withoutQuotationMarks(variable, variableText(environment, name), notify) || undefined;
  const path = variableText(environment, `${name}_FILE`);
  const command = variableText(environment, `${name}_COMMAND`);
  if (apiKey === undefined && path === '' && command !== '') return commandKey(`${variable}_COMMAND`, command, report);
  if (apiKey !== undefined || path === '') return withoutUndefined({ apiKeyVariable: variable, apiKey });
  const apiKeyVariable = `${variable}_FILE`;
  const file = expandPath(path);
  const content = readNonEmptyText(file);
  if ('reason' in content) {
    // A text that does not look like a path may be the key itself.
    const isPath = /^(?:~|\.{1,2})?[/\\]|^[A-Za-z]:[/\\]/.test(path);
    const message = `expected the path of a file that contains a key (${content.reason})`;
    report(apiKeyVariable, message, isPath ? path : MASK);
    return { apiKeyVariable };
  }
  // Files on Windows have no such mode.
  const isShared = process.platform !== 'win32' && (statSync(file).mode & 0o004) !== 0;
  return {
    apiKeyVariable,
    apiKeySource: { kind: 'file', path: file },
    apiKey: withoutQuotationMarks(apiKeyVariable, content.text.trim(), notify),
    ...(isShared && { isKeyFileShared: true }),
  };
}

function commandKey(apiKeyVariable: string, text: string, report: Report): ApiKey {
  const apiKeySource = toCommand(text, process.cwd());
  if (apiKeySource !== undefined) return { apiKeyVariable, apiKeySource };
  report(apiKeyVariable, 'expected a command that prints the key, with each quotation closed');
  return { apiKeyVariable };
}

/** A key or token without the quotation marks around it, of which the user is notified. */
export function withoutQuotationMarks(variable: string, text: string, notify: Report): string {
  const key = bareKey(text);
  if (key !== text) notify(variable, 'has quotation marks around its value, which are not sent; remove them');
  return key;
}

/** The names of the variables that contain the API key, the tokens of callers, the URL of the quota store and other secrets of this program. */
export function secretVariables(config: ConfigTree): readonly string[] {
  const key = config.openai.apiKeyEnv;
  const ofKey = [key, `${key}_FILE`, `${key}_COMMAND`];
  return [...ofKey, 'MCP_HTTP_QUOTA_STORE', ...tokenVariables(config), ...referencedVariables(config)];
}

/** The variables to which secrets of this program refer. */
function referencedVariables({ gateway, http }: ConfigTree): readonly string[] {
  const sources = [gateway.loginsKey, http.oauth.clientSecret].map((secret) => secret?.source);
  return sources.flatMap((source) => (source?.kind === 'variable' ? [source.name] : []));
}

/** The tokens of callers, the passwords for the quota store, and the secrets of variables to which the configuration refers. */
export function httpSecrets(config: ConfigTree, environment: Environment): readonly string[] {
  const tokens = [...tokenVariables(config), ...referencedVariables(config)].map((name) =>
    bareKey(variableText(environment, name)),
  );
  const { store } = config.http.quota;
  return [...tokens, ...passwordsOf(store)];
}

function tokenVariables({ http: { tokenEnv = {} } }: ConfigTree): readonly string[] {
  return ['MCP_HTTP_TOKEN', ...(typeof tokenEnv === 'string' ? [tokenEnv] : Object.values(tokenEnv))];
}

/** A secret as it is, and in base64. The redactor knows how JSON and URLs write a text. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
}

/** Shorter values are ordinary words and numbers, which masking would remove from messages. */
const SHORTEST = 8;

/**
 * The texts in the configuration of servers that must not be shown: values of `envs` and `headers`, parameters of URLs, and `expanded`, the
 * variables to which the configuration refers. Credentials after a scheme, and passwords in URLs, are also secrets without the rest of their text.
 * What the name of a server contains is none, because a server without its name cannot be called: `postgres` with `postgres://postgres:postgres@db`.
 */
export function serverSecrets(servers: readonly ServerEntry[], expanded: readonly NamedText[]): readonly string[] {
  const configured = servers.flatMap(({ connection, values = [] }): readonly string[] => {
    const isKnown = ([name]: readonly [string, string]) => !values.some(({ key }) => key.endsWith(`.${name}`));
    const texts = (map: Readonly<Record<string, string>>) =>
      Object.entries(map)
        .filter(isKnown)
        .map(([, text]) => text);
    if (connection.kind === 'child') return texts(connection.envs);
    // A URL with a variable that is not set may not be one.
    const parameters = URL.canParse(connection.url) ? new URL(connection.url).searchParams.values() : [];
    return [...texts(connection.headers), ...parameters];
  });
  const args = servers.flatMap(({ connection }) => (connection.kind === 'child' ? connection.args : []));
  const values = [...configured, ...expanded.map(([, text]) => text)].flatMap((text) => [text, credentialsOf(text)]);
  const passwords = [...configured, ...args].flatMap(passwordsOf);
  const secrets = new Set([...values.filter(isSecret), ...passwords].flatMap(formsOf));
  return [...secrets].filter((secret) => !servers.some(({ name }) => name.includes(secret)));
}

/** The secrets in a value of a file or a command: the text, and credentials that it contains. */
export function secretsIn(text: string): readonly string[] {
  const json = parseJson(text);
  const members = isObject(json) ? Object.values(json).filter((member) => typeof member === 'string') : [];
  const ofMembers = members.flatMap((member) => [member, credentialsOf(member)]).filter(isSecret);
  const all = [text, bareKey(text.trim()), credentialsOf(text), ...passwordsOf(text), ...ofMembers];
  return all.filter((secret) => secret !== '').flatMap(formsOf);
}

/** The client secrets, as they are and in the forms in which `Authorization` has them. */
export function clientSecrets(servers: readonly ServerEntry[]): readonly string[] {
  return servers.flatMap(({ connection }) => {
    const { clientId = '', clientSecret = '' } = (connection.kind === 'remote' && connection.auth) || {};
    return passwordsOf(`https://${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}@issuer.invalid`);
  });
}

/** The credentials after a scheme, as in `Bearer abc`. */
function credentialsOf(text: string): string {
  return /^[a-z]+\s+(\S+)$/i.exec(text.trim())?.[1] ?? '';
}

/** Matches texts that messages contain: a word, such as `production`, a media type, or a path or URL without user and parameters. */
const ORDINARY =
  /^(?:[a-z]+|[a-z]+\/[a-z.+-]+(?:[,;].*)?|(?:[a-z][a-z0-9+.-]*:\/\/|[a-z]:\\|~?\/|\.{1,2}[\\/])[^?#@]*)$/i;

function isSecret(text: string): boolean {
  return text.length >= SHORTEST && !ORDINARY.test(text);
}
