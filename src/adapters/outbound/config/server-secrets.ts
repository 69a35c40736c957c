import { isObject, parseJson } from '../../../domain/values/json.ts';
import { passwordsOf } from '../network/addresses.ts';
import type { NamedText } from '../network/environment.ts';
import { formsOf } from './secrets.ts';
import type { ServerEntry } from './server-entry.ts';

/**
 * What must not be shown of the configuration of servers, in the forms in which they may repeat it: `envs`, `headers`, secret arguments, parameters
 * and long parts of URLs, and `expanded`, the variables that it refers to. Left out is what is obviously no secret: see `isSecret`.
 */
export function serverSecrets(servers: readonly ServerEntry[], expanded: readonly NamedText[]): readonly string[] {
  const configured = servers.flatMap(({ connection }): readonly NamedText[] => {
    if (connection.kind === 'child') return [...Object.entries(connection.envs), ...secretArguments(connection.args)];
    const { pathname, searchParams } = new URL(connection.url);
    return [...Object.entries(connection.headers), ...searchParams, ['', pathname], ...longParts(pathname)];
  });
  const parts = [...configured, ...expanded].flatMap(([name, text]) => partsOf(name, text));
  return [...new Set(parts.filter(isSecret).flatMap(([, text]) => formsOf(text)))];
}

/** Arguments such as `--api-key abc`, `--token=abc`, `--env=API_KEY=abc`, `Authorization: Bearer abc`, and URLs with a password. */
function secretArguments(args: readonly string[]): readonly NamedText[] {
  return args.flatMap((arg, index): readonly NamedText[] => {
    const [, name = '', value = ''] = /^([\w.-]+)(?:=|:\s*)(.+)$/s.exec(arg) ?? [];
    const [option = ''] = (!arg.startsWith('-') && /^-[^=]+$/.exec(args[index - 1] ?? '')) || [];
    const [url = ''] = /\b\w+:\/\/.*/s.exec(arg) ?? [];
    const named: readonly NamedText[] = [
      [name, value],
      [option, arg],
    ];
    const secret = named.filter(([name, text]) => SECRET_NAME.test(name) && isSecret(['', text]));
    const passwords = passwordsOf(url).map((password): NamedText => ['password', password]);
    return [...secret, ...passwords, ...(value === '' ? [] : secretArguments([value]))];
  });
}

/** The client secrets, as they are and in the forms in which `Authorization` has them. */
export function clientSecrets(servers: readonly ServerEntry[]): readonly string[] {
  return servers.flatMap(({ connection }) => {
    const { clientId = '', clientSecret = '' } = (connection.kind === 'remote' && connection.auth) || {};
    return passwordsOf(`https://${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}@issuer.invalid`);
  });
}

/** A text, and what an error may name of it alone: its words, credentials after a scheme, members of JSON, the password in a URL. */
function partsOf(name: string, text: string): readonly NamedText[] {
  const json = /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
  const [, scheme = '', credentials = ''] = /^([a-z]+)\s+(\S+)$/i.exec(text.trim()) ?? [];
  const basic = scheme.toLowerCase() === 'basic' ? Buffer.from(credentials, 'base64').toString() : '';
  const words = (json === undefined ? text : '').split(/[\s,;]+/).map((word): NamedText => {
    const [, key, value] = /^([^=]+)=([^=].*)$/.exec(word) ?? [];
    return key !== undefined && value !== undefined ? [key, value] : ['', word];
  });
  return [
    [name, text],
    [name, credentials],
    [name, basic],
    [name, basic.slice(basic.indexOf(':') + 1)],
    ...words,
    ...leavesOf(name, json),
    ...passwordsOf(text).map((password): NamedText => ['password', password]),
    ...(URL.canParse(text) ? new URL(text).searchParams : []),
  ];
}

function leavesOf(name: string, json: unknown): readonly NamedText[] {
  if (typeof json === 'string') return partsOf(name, json);
  if (Array.isArray(json)) return json.flatMap((member) => leavesOf(name, member));
  return isObject(json) ? Object.entries(json).flatMap(([key, member]) => leavesOf(key, member)) : [];
}

const SECRET_NAME =
  /key|token|secret|pass|pwd|auth(?!or(?!i))|cred|cookie|signature|webhook|dsn|(?:^|[_-])pat(?:$|[_-])/i;
const TRIVIAL = /^(?:true|false|none|null|auto|default|bearer|basic|oauth2?|\d{1,5})$/i;
/** Such as `application/json, text/event-stream`, which messages of servers contain. */
const MEDIA_TYPES = /^(?:(?:application|text)\/[a-z.+-]+(?:[,;]\s*|$))+(?:charset=[a-z0-9-]+)?$/i;
/** One word, or a short text such as `us-east-1`, `en_US.UTF-8` or `10.0.0.1`. */
const PLAIN = /^(?:[a-z]{1,15}|(?=.{1,11}$)(?:[a-z]+|\d+)(?:[-_./:](?:[a-z]+|\d+))+)$/i;
/** A path, or a URL without user, password and parameters. */
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|[a-z]:\\|~?\/|\.{1,2}[\\/])[^?#@]*$/i;

/**
 * Whether a value must be masked. Masking a value such as `1`, `8080`, `production` or `/home/me/notes` would damage messages, and what the
 * model reads. A name such as `DB_PASSWORD` makes every value of at least 4 characters a secret; other values have at least 8.
 */
function isSecret([name, text]: NamedText): boolean {
  if (text.length < 4 || TRIVIAL.test(text) || MEDIA_TYPES.test(text)) return false;
  if (SECRET_NAME.test(name)) return true;
  return text.length >= 8 && !PLAIN.test(text) && (!ADDRESS.test(text) || longParts(text).length > 0);
}

/** The parts of a path that are probably keys, as in `https://hooks.example/s/T0123456789abcdefghij`. */
function longParts(path: string): readonly NamedText[] {
  const parts = path.split(/[\\/]/).filter((part) => part.length >= 20 && /\d/.test(part));
  return parts.map((part) => ['', part]);
}
