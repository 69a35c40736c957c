import { isObject } from '../../../domain/json.ts';
import { toHostName } from '../../../domain/web-url.ts';
import { parseListenAddress, toHostPort } from './listen-address.ts';
import { isSecureUrl } from './secure-url.ts';

/** A kind of value: what it accepts, and how it reads a value from YAML and the text of a variable. */
export interface ValueKind {
  /** Completes "expected ...". */
  readonly accepted: string;
  /** The value as the program uses it, or undefined if it is not accepted. */
  readonly fromYaml: (value: unknown) => unknown;
  readonly fromText: (text: string) => unknown;
  /** Relative paths are resolved when they are read. */
  readonly isPath?: true;
  /** The value names a variable that contains a secret, which may have been pasted here by mistake. */
  readonly namesSecret?: true;
  /** The value may contain secrets, and is not shown. */
  readonly isSecret?: true;
}

export function integer(min: number, max = Number.POSITIVE_INFINITY, unit = ''): ValueKind {
  const fromYaml = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max ? value : undefined;
  return {
    accepted: `an integer${unit}${max === Number.POSITIVE_INFINITY ? `, ${min} or greater` : ` from ${min} to ${max}`}`,
    fromYaml,
    fromText: (text) => (/^[+-]?\d+$/.test(text) ? fromYaml(Number(text)) : undefined),
  };
}

export const milliseconds = (min: number) => integer(min, undefined, ' of milliseconds');

export function oneOf(choices: readonly string[]): ValueKind {
  const read = (value: unknown) => choices.find((choice) => choice === value);
  return {
    accepted: `${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`,
    fromYaml: read,
    fromText: (text) => read(text.toLowerCase()),
  };
}

export function text(accepted: string, pattern = /\S/): ValueKind {
  return textReadBy(accepted, (text) => (pattern.test(text) ? text : undefined));
}

export function path(accepted: string): ValueKind {
  return { ...text(accepted), isPath: true };
}

export const flag: ValueKind = {
  accepted: 'true or false',
  fromYaml: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text) => (/^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined),
};

const DEBUG_FILE = /[/\\]|\.log$/;

/** `DEBUG` as a switch: a path enables debug output too. Other values belong to other programs (ruling 15). */
export const debugFlag: ValueKind = {
  ...flag,
  fromText: (text) => (DEBUG_FILE.test(text) ? true : flag.fromText(text)),
};

/** `DEBUG` as the path of a file. */
export const debugFile: ValueKind = {
  ...path('a path'),
  fromText: (text) => (DEBUG_FILE.test(text) ? text : undefined),
};

/** A URL to which paths can be appended: no user, password, query or fragment. */
export const baseUrl = textReadBy(
  'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
  (text) => {
    const url = toHttpUrl(text);
    const isPlain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
    return isPlain ? url.href.replace(/\/$/, '') : undefined;
  },
);

/** Visible ASCII without quotes: these texts are sent in headers, in quotes. */
const QUOTABLE = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** Kept as it is, because the URLs of issuers are compared as texts. */
export const secureUrl = textReadBy(
  'an https:// URL without user, query or fragment, such as https://auth.example.com (http:// only on this machine)',
  (text) => (QUOTABLE.test(text) && !/[?#]/.test(text) && isSecureUrl(text) ? text : undefined),
);

export const scopes = listOf('a list of scopes, such as [mcp:tools]', (entry) =>
  QUOTABLE.test(entry) ? entry : undefined,
);

export const hostNames = listOf('a list of host names, such as [jma.go.jp, tenki.jp]', toHostName);

/** Host names or addresses as in the `Host` header, without a port; `*` is any. */
export const requestHosts = listOf('a list of host names, such as [mcp.example.com], or [*] for any', (entry) => {
  if (entry === '*') return entry;
  return /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(entry) ? toHttpUrl(`http://${entry}`)?.hostname : undefined;
});

export const origins = listOf('a list of origins, such as [https://chat.example.com]', (entry) => {
  const url = toHttpUrl(entry);
  return url !== undefined && url.href === `${url.origin}/` ? url.origin : undefined;
});

function toHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

const hostPortText = textReadBy(
  'host:port, such as 127.0.0.1:3917 or [::1]:3917, with a port from 1 to 65535',
  (text) => {
    const address = parseListenAddress(text);
    return address && toHostPort(address);
  },
);

/** In YAML, a port alone is a number. */
export const hostPort: ValueKind = {
  ...hostPortText,
  fromYaml: (value) => hostPortText.fromYaml(integer(0).fromYaml(value) === undefined ? value : String(value)),
};

export const secretVariable: ValueKind = {
  ...text('the name of an environment variable', /^[A-Za-z_][A-Za-z0-9_]*$/),
  namesSecret: true,
};

/** `system` is the zone of this machine. */
export const timeZone = textReadBy('an IANA time zone, such as Europe/Berlin, or system', (text) => {
  if (text === 'system') return text;
  // Intl also accepts offsets, which are not names.
  if (!/^[A-Za-z]/.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone && text;
  } catch {
    return undefined;
  }
});

/** Only the list: each server is read later. */
export const servers: ValueKind = {
  accepted: 'a list of servers, each with a name, and a command or a url',
  fromYaml: (value) => (Array.isArray(value) ? value : undefined),
  fromText: () => undefined,
  isSecret: true,
};

/** Names of callers, as in `http.token_env`, or of owners of tokens with the prefix `oauth:`. No caller has another name. */
const CALLER = /^(?:[\w.@-]+|oauth:[\w.@|:/+=~#-]+)$/;
const CALLERS = 'callers, as in http.token_env, or oauth: and the name of a person';

export const callers = listOf(`a list of ${CALLERS}`, (entry) => (CALLER.test(entry) ? entry : undefined));

const QUOTA_KEYS = ['calls_per_day', 'searches_per_day', 'tokens_per_day'];

/** Limits by caller. */
export const quotaCallers: ValueKind = {
  accepted: `a map of ${CALLERS}, to their limits (${QUOTA_KEYS.join(', ')}), such as {alice: {calls_per_day: 50}}`,
  fromYaml: (value) => {
    const isLimit = ([key, limit]: readonly [string, unknown]) =>
      QUOTA_KEYS.includes(key) && integer(0).fromYaml(limit) !== undefined;
    const isEntry = ([caller, limits]: readonly [string, unknown]) =>
      CALLER.test(caller) && isObject(limits) && Object.entries(limits).every(isLimit);
    return isObject(value) && Object.entries(value).every(isEntry) ? value : undefined;
  },
  fromText: () => undefined,
};

/** `memory`, or the URL of a server, with its database as path. */
export const quotaStore: ValueKind = {
  ...textReadBy(
    'memory, or the URL of a store, such as redis://127.0.0.1:6379 or rediss://user:password@host',
    (text) => (text === 'memory' || isStoreUrl(text) ? text : undefined),
  ),
  isSecret: true,
};

/** The user and password must be decodable, since the client decodes them for each connection. */
function isStoreUrl(text: string): boolean {
  if (!/^rediss?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false;
  const { hostname, pathname, search, hash, username, password } = new URL(text);
  try {
    decodeURIComponent(username + password);
    return hostname !== '' && /^(?:\/\d*)?$/.test(pathname) && `${search}${hash}` === '';
  } catch {
    return false;
  }
}

/** By server: names of tools, or `all`. */
export const groundedTools: ValueKind = {
  accepted: 'a map of servers to lists of names of tools, or to all',
  fromYaml: (value) => {
    const isList = (list: unknown) =>
      list === 'all' || (Array.isArray(list) && list.every((name) => typeof name === 'string' && name !== ''));
    return isObject(value) && Object.values(value).every(isList) ? value : undefined;
  },
  fromText: () => undefined,
};

/** A variable, or one per caller; as text `NAME`, or `alice=NAME,bob=OTHER_NAME`. */
export const tokenVariables: ValueKind = {
  accepted: 'the name of an environment variable (not the token itself), or a map of callers to such names',
  fromYaml: (value) => (isObject(value) ? readCallers(Object.entries(value)) : secretVariable.fromYaml(value)),
  fromText: (text) => {
    if (!text.includes('=')) return secretVariable.fromText(text);
    return readCallers(text.split(',').map((entry) => /^\s*([^=]*)=(.*)$/s.exec(entry)?.slice(1) ?? []));
  },
  namesSecret: true,
};

/** The variables by caller; undefined if a caller is repeated. */
function readCallers(entries: readonly (readonly unknown[])[]): unknown {
  const variables = new Map(entries.map(([caller = '', name]) => [String(caller), secretVariable.fromYaml(name)]));
  const isValid = [...variables].every(([caller, name]) => /^[\w.@-]+$/.test(caller) && name !== undefined);
  return isValid && entries.length > 0 && variables.size === entries.length ? Object.fromEntries(variables) : undefined;
}

/** A text; `read` receives it without surrounding whitespace. */
function textReadBy(accepted: string, read: (text: string) => string | undefined): ValueKind {
  const fromText = (text: string) => read(text.trim());
  return { accepted, fromYaml: (value) => (typeof value === 'string' ? fromText(value) : undefined), fromText };
}

/** A list of texts, each read by `read`; in a variable they are separated by commas. */
export function listOf(accepted: string, read: (entry: string) => string | undefined): ValueKind {
  const fromYaml = (value: unknown) => {
    if (!Array.isArray(value)) return undefined;
    const entries = value.map((entry) => (typeof entry === 'string' ? read(entry.trim()) : undefined));
    return entries.every((entry) => entry !== undefined) ? [...new Set(entries)] : undefined;
  };
  return { accepted, fromYaml, fromText: (text) => fromYaml(text.split(',')) };
}
