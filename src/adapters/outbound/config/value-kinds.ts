import { toHostName } from '../../../domain/host-name.ts';
import { parseListenAddress, toHostPort } from './listen-address.ts';
import { isTree } from './tree.ts';

/** A kind of value: what it accepts, in words, and how it reads YAML's values and a variable's text. */
export interface ValueKind {
  readonly accepted: string;
  /** The value as the program uses it, or undefined where it is not accepted. */
  readonly fromYaml: (value: unknown) => unknown;
  readonly fromText: (text: string) => unknown;
}

export function wholeNumber(min: number, max?: number, unit = ''): ValueKind {
  const fromYaml = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= min && (max === undefined || (value as number) <= max)
      ? value
      : undefined;
  const words = max === undefined ? `a whole number${unit} from ${min}` : `a whole number from ${min} to ${max}`;
  return {
    accepted: words,
    fromYaml,
    fromText: (text) => (/^[+-]?\d+$/.test(text) ? fromYaml(Number(text)) : undefined),
  };
}

export function oneOf(choices: readonly string[]): ValueKind {
  const read = (value: unknown) => choices.find((choice) => choice === value);
  return { accepted: `one of ${choices.join(', ')}`, fromYaml: read, fromText: (text) => read(text.toLowerCase()) };
}

export function text(accepted: string, pattern = /\S/): ValueKind {
  const read = (value: unknown) => (typeof value === 'string' && pattern.test(value) ? value.trim() : undefined);
  return { accepted, fromYaml: read, fromText: read };
}

export const flag: ValueKind = {
  accepted: 'true or false',
  fromYaml: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text) => (/^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined),
};

/** A URL to which paths can be appended: no user, password, query or fragment. */
export const baseUrl: ValueKind = {
  accepted: 'an http:// or https:// URL without user, query or fragment, such as https://api.openai.com/v1',
  fromYaml: readBaseUrl,
  fromText: readBaseUrl,
};

export const hostNames: ValueKind = {
  accepted: 'a list of host names, such as [jma.go.jp, tenki.jp]',
  fromYaml: (value) => {
    if (!Array.isArray(value)) return undefined;
    const hosts = value.map((entry) => (typeof entry === 'string' ? toHostName(entry) : undefined));
    return hosts.every((host) => host !== undefined) ? [...new Set(hosts)] : undefined;
  },
  fromText: () => undefined,
};

export const listenAddress: ValueKind = {
  accepted: 'host:port, such as 127.0.0.1:3917 or [::1]:3917',
  fromYaml: (value) => (typeof value === 'string' || typeof value === 'number' ? readListen(String(value)) : undefined),
  fromText: readListen,
};

/** Host names or addresses as `Host` has them, without a port; `*` stands for any. */
export const requestHosts = listOf('a list of host names, such as [mcp.example.com], or [*] for any', (entry) => {
  if (entry === '*') return entry;
  const url = URL.canParse(`http://${entry}`) ? new URL(`http://${entry}`) : undefined;
  return url !== undefined && /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(entry) ? url.hostname : undefined;
});

export const origins = listOf('a list of origins, such as [https://chat.example.com]', (entry) => {
  const url = URL.canParse(entry) ? new URL(entry) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url.origin : undefined;
});

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A variable, or one for each caller; as text `NAME`, or `alice=NAME,bob=OTHER_NAME`. */
export const tokenVariables: ValueKind = {
  accepted: 'the name of an environment variable, or a map of callers to such names',
  fromYaml: readTokenVariables,
  fromText: (text) => (text.includes('=') ? readTokenVariables(toMap(text)) : readTokenVariables(text)),
};

/** `caller=NAME,caller=NAME`; undefined if a caller comes twice. */
function toMap(text: string): unknown {
  const entries = text.split(',').map((entry): readonly [string, string] => {
    const [, caller = '', name = ''] = /^\s*([^=]*)=(.*?)\s*$/.exec(entry) ?? [];
    return [caller, name];
  });
  return new Set(entries.map(([caller]) => caller)).size === entries.length ? Object.fromEntries(entries) : undefined;
}

function readTokenVariables(value: unknown): unknown {
  if (typeof value === 'string') return VARIABLE.test(value.trim()) ? value.trim() : undefined;
  const entries = isTree(value) ? Object.entries(value) : [];
  const isWell = entries.every(
    ([caller, name]) => /^[\w.@-]+$/.test(caller) && typeof name === 'string' && VARIABLE.test(name),
  );
  return entries.length > 0 && isWell ? value : undefined;
}

function readListen(text: string): string | undefined {
  const address = parseListenAddress(text.trim());
  return address && toHostPort(address);
}

/** A list of texts, each read by `read`; in a variable they are separated by commas. */
function listOf(accepted: string, read: (entry: string) => string | undefined): ValueKind {
  const fromYaml = (value: unknown) => {
    if (!Array.isArray(value)) return undefined;
    const entries = value.map((entry) => (typeof entry === 'string' ? read(entry.trim()) : undefined));
    return entries.every((entry) => entry !== undefined) ? [...new Set(entries)] : undefined;
  };
  return { accepted, fromYaml, fromText: (text) => fromYaml(text.split(',')) };
}

function readBaseUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' && URL.canParse(value.trim()) ? new URL(value.trim()) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
    ? url.href.replace(/\/$/, '')
    : undefined;
}
