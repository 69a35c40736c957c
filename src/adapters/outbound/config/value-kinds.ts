import { TOOL_NAMES, type ToolName } from '../../../domain/answers/question.ts';
import { TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { isObject } from '../../../domain/values/json.ts';
import { bareKey } from '../../../domain/values/redaction.ts';
import { decoded, toHostName } from '../../../domain/values/web-url.ts';
import { attempted, expandPath } from '../files/local-files.ts';
import { isSecureUrl, parseListenAddress, toHttpUrl } from '../network/addresses.ts';
import { listOf, mapOf, path, text, type ValueKind, valueOr, yamlOnly } from './kinds.ts';

export const flag: ValueKind<boolean> = {
  accepted: 'true or false',
  schema: { type: 'boolean' },
  fromYaml: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text) => (/^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined),
};

const EXPOSURES = [true, false, 'search', 'auto'] as const;

export const exposure = yamlOnly('true, false, search or auto', { enum: EXPOSURES }, (value) =>
  EXPOSURES.find((one) => one === value),
);

export const toolPatterns = listOf(
  "a list of server/tool, with * at either end of the tool's name for any text",
  /^[^/\s]+\/(?:\*?[^*]+\*?|\*)$/,
);

const DEBUG_FILE = /[/\\]|\.log$/;

/** `DEBUG` as a switch: a path enables debug output too. Other values belong to other programs. */
export const debugFlag: ValueKind<boolean> = {
  ...flag,
  fromText: (text) => (DEBUG_FILE.test(text) ? true : flag.fromText(text)),
};

/** `DEBUG` as the path of a file. */
export const debugFile: ValueKind<string> = {
  ...path('a path'),
  fromText: (text) => (DEBUG_FILE.test(text) ? expandPath(text) : undefined),
};

const HTTP_URL = /^[Hh][Tt][Tt][Pp][Ss]?:/;

/** A URL to which paths can be appended: no user, password, query or fragment. */
export const baseUrl = text(
  'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
  (text) => {
    const url = toHttpUrl(text);
    const isPlain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
    return isPlain ? url.href.replace(/\/$/, '') : undefined;
  },
  HTTP_URL,
);

/** Characters that headers and claims can have. */
export const VISIBLE_ASCII = /^[\x21-\x7E]+$/;

/** A text that is sent as a header, without quotation marks around it, which files and shells leave there. */
export function headerText(accepted: string): ValueKind<string> {
  const sendable = (id: string) => (VISIBLE_ASCII.test(id) ? id : undefined);
  return text(accepted, (written) => sendable(bareKey(written)), VISIBLE_ASCII);
}

/** Visible ASCII without quotation marks, for texts that are sent between quotation marks in headers. */
const QUOTABLE = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** A URL that is kept as it was written, because the URLs of issuers are compared as texts. */
export const secureUrl = text(
  'an https:// URL without user, query or fragment, such as https://auth.example.com (http:// only on this machine)',
  (text) => (QUOTABLE.test(text) && !/[?#]/.test(text) && isSecureUrl(text) ? text : undefined),
  HTTP_URL,
);

export const answerTools = listOf<ToolName>(
  `a list of tools, of ${TOOL_NAMES.join(', ')}`,
  new RegExp(`^(?:${TOOL_NAMES.join('|')})$`),
);

export const scopes = listOf('a list of scopes, such as [mcp:tools]', QUOTABLE);

export const hostNames = listOf('a list of host names, such as [jma.go.jp, tenki.jp]', toHostName);

/** Host names or addresses as in the `Host` header, without a port; `*` allows any host. */
export const requestHosts = listOf('a list of host names, such as [mcp.example.com], or [*] for any', (entry) => {
  if (entry === '*') return entry;
  return /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(entry) ? toHttpUrl(`http://${entry}`)?.hostname : undefined;
});

export const origins = listOf('a list of origins, such as [https://chat.example.com]', (entry) => {
  const url = toHttpUrl(entry);
  return url !== undefined && url.href === `${url.origin}/` ? url.origin : undefined;
});

/** The origin of a URL under which browsers reach this program. */
export const publicOrigin = text(
  'an origin, such as https://mcp.example.com (http:// only on this machine)',
  (text) => {
    const url = toHttpUrl(text);
    return url !== undefined && isSecureUrl(text) && url.href === `${url.origin}/` ? url.origin : undefined;
  },
  HTTP_URL,
);

const hostPortText = text('host:port, such as 127.0.0.1:3917 or [::1]:3917, with a port from 1 to 65535', (text) => {
  const { host, port } = parseListenAddress(text) ?? {};
  return host && `${host.includes(':') ? `[${host}]` : host}:${port}`;
});

/** Also accepts a number from YAML: a port without a host. */
export const hostPort: ValueKind<string> = {
  ...hostPortText,
  schema: { type: ['string', 'integer'], pattern: '\\S', minimum: 0, maximum: 65_535 },
  fromYaml: (value, context) =>
    hostPortText.fromYaml(Number.isInteger(value) && Number(value) >= 0 ? String(value) : value, context),
};

export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const secretVariable: ValueKind<string> = {
  ...text('the name of an environment variable', VARIABLE),
  namesSecret: true,
};

/** `system` is the zone of this machine. */
export const timeZone = text(
  'an IANA time zone, such as Europe/Berlin, or system',
  (text) => {
    if (text === 'system') return text;
    // Intl also accepts offsets, which are not names.
    const isZone = /^[A-Za-z]/.test(text) && attempted(() => new Intl.DateTimeFormat('en', { timeZone: text }));
    return isZone ? text : undefined;
  },
  /^[A-Za-z]/,
);

export const inherited = valueOr([true], listOf('a list of names of environment variables, or true', VARIABLE));

/** One path, or a list of paths. */
export function paths(accepted: string): ValueKind<readonly string[]> {
  const one = path(accepted);
  const schema = { anyOf: [one.schema, { type: 'array', items: one.schema }] };
  return yamlOnly(accepted, schema, (value, context) => {
    const read = [value].flat().map((entry) => one.fromYaml(entry, context));
    return read.every((entry) => entry !== undefined) ? read : undefined;
  });
}

/** Checks only that the value is a list. Each server is read later. */
export const servers: ValueKind<readonly unknown[]> = {
  ...yamlOnly('a list of servers, each with a name, and a command or a url', { type: 'array' }, (value) =>
    Array.isArray(value) ? value : undefined,
  ),
  isSecret: true,
};

/** Matches the name of a caller, as in `http.token_env`, or of the owner of a token, after `oauth:`. No caller has any other name. */
export const CALLER = /^(?:[\w.@-]+|oauth:[\w.@|:/+=~#-]+)$/;
export const CALLERS = 'callers, as in http.token_env, or oauth: and the name of a person';

export const callers = listOf(`a list of ${CALLERS}`, CALLER);

/** `memory`, or the URL of a Redis server, whose path is the number of a database. */
export const quotaStore: ValueKind<string> = {
  ...text(
    'memory, or the URL of a store, such as redis://127.0.0.1:6379 or rediss://user:password@host',
    (text) => (text === 'memory' || isStoreUrl(text) ? text : undefined),
    /^(?:memory|rediss?:\/\/.*)$/,
  ),
  isSecret: true,
};

function isStoreUrl(text: string): boolean {
  if (!/^rediss?:\/\/[^/]/.test(text) || !URL.canParse(text)) return false;
  const { hostname, pathname, search, hash, username, password } = new URL(text);
  const isPlain = hostname !== '' && /^(?:\/\d*)?$/.test(pathname) && `${search}${hash}` === '';
  return isPlain && decoded(username + password) !== undefined;
}

/** Checks only that the value is a map. Its entries are read later. */
export const access = yamlOnly('a map of callers to what they may use', { type: 'object' }, (value) =>
  isObject(value) ? value : undefined,
);

/** The names of tools by server, or `all`. */
export const groundedTools = mapOf(
  'a map of servers to lists of names of tools, or to all',
  valueOr(['all'], listOf('a list of names of tools, or all', /\S/)),
);

/** The name of a variable, or of one per caller; in a variable, `NAME` or `alice=NAME,bob=OTHER_NAME`. */
export const tokenVariables: ValueKind<string | Readonly<Record<string, string>>> = {
  accepted: 'the name of an environment variable (not the token itself), or a map of callers to such names',
  schema: {
    anyOf: [
      secretVariable.schema,
      {
        type: 'object',
        propertyNames: { pattern: TOKEN_CALLER.source },
        additionalProperties: secretVariable.schema,
        minProperties: 1,
      },
    ],
  },
  fromYaml: (value) => (isObject(value) ? readTokenVariables(Object.entries(value)) : toVariable(value)),
  fromText: (text) => {
    if (!text.includes('=')) return toVariable(text);
    return readTokenVariables(text.split(',').map((entry) => /^\s*([^=]*)=(.*)$/s.exec(entry)?.slice(1) ?? []));
  },
  namesSecret: true,
};

function toVariable(name: unknown): string | undefined {
  return typeof name === 'string' ? secretVariable.fromText(name) : undefined;
}

/** The variables by caller; undefined without any, with a repeated caller, or with a name that is not valid. */
function readTokenVariables(entries: readonly (readonly unknown[])[]) {
  const variables = new Map(entries.map(([caller = '', name]) => [String(caller), toVariable(name) ?? '']));
  const isValid = [...variables].every(([caller, name]) => TOKEN_CALLER.test(caller) && name !== '');
  return isValid && entries.length > 0 && variables.size === entries.length ? Object.fromEntries(variables) : undefined;
}
