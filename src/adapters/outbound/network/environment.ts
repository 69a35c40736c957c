import { MASK } from '../../../domain/values/redaction.ts';
import { decoded } from '../../../domain/values/web-url.ts';
import { isLoopbackUrl, passwordsOf, withScheme } from './addresses.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A text of the configuration, with the name of its variable. */
export type NamedText = readonly [name: string, text: string];

/** Set in the environment of every server that the gateway starts. If such a server is this program, it starts no servers, which could start it again. */
export const GATEWAY_MARKER = 'OPENAI_RESPONSES_MCP_GATEWAY';

/** The variables with the URLs of proxies, which servers inherit. */
export const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** A variable's text without surrounding whitespace; '' if it is not set. An empty variable counts as not set. */
export function variableText(environment: Environment, name: string): string {
  return environment[name]?.trim() ?? '';
}

/** The name of a variable for display. A text that does not look like a name is masked, because it may be a pasted secret. */
export function shownName(name: string): string {
  return /^(?:[A-Z_][A-Z0-9_]*)?$/.test(name) ? name : MASK;
}

/**
 * The URL of the proxy for requests to `baseUrl` by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case; the variables that were
 * used; and the passwords of all proxies, because servers inherit the variables.
 */
export function readProxy(
  environment: Environment,
  baseUrl: string,
  report: (name: string, message: string, received: string) => void = () => {},
) {
  const textOf = (name: string) => variableText(environment, name);
  const { https, http, bypass } = proxyVariables(environment);
  for (const name of [https, http]) {
    if (name !== '' && toProxyUrl(textOf(name)) === undefined) report(name, EXPECTED, textOf(name));
  }
  // As in other programs, the proxy for http also serves https if no other is set.
  const url = toProxyUrl(textOf(baseUrl.startsWith('https:') ? https || http : http));
  // A proxy on another machine would read requests to this machine, and could not forward them.
  const isUsed = url !== undefined && !isLoopbackUrl(baseUrl) && !matchesNoProxy(new URL(baseUrl), textOf(bypass));
  return {
    proxy: isUsed ? url : undefined,
    names: https === '' && http === '' ? [] : [https, http, bypass].filter((name) => name !== ''),
    secrets: PROXY_VARIABLES.map(textOf).flatMap((text) => (text === '' ? [] : passwordsOf(text))),
  };
}

/** The names of the variables that are set, lower case first; '' if neither form is set. */
function proxyVariables(environment: Environment) {
  const named = (name: string) =>
    [name.toLowerCase(), name].find((variant) => variableText(environment, variant) !== '') ?? '';
  return { https: named('HTTPS_PROXY'), http: named('HTTP_PROXY'), bypass: named('NO_PROXY') };
}

/** The options of undici's agent for proxies. A proxy whose URL cannot be used is left out. */
export function proxyOptions(environment: Environment) {
  const { https, http, bypass } = proxyVariables(environment);
  return {
    httpsProxy: toProxyUrl(variableText(environment, https)) ?? '',
    httpProxy: toProxyUrl(variableText(environment, http)) ?? '',
    noProxy: variableText(environment, bypass),
  };
}

const EXPECTED = 'expected the URL of a proxy, such as http://proxy.example:8080';

function toProxyUrl(text: string): string | undefined {
  if (text === '') return undefined;
  const url = withScheme(text);
  if (!URL.canParse(url) || !/^https?:\/\/[^/]/i.test(url)) return undefined;
  const { username, password } = new URL(url);
  return decoded(username + password) === undefined ? undefined : url;
}

/** `NO_PROXY`: hosts including their subdomains, each with or without a port; `*` matches all. */
function matchesNoProxy({ hostname, port }: URL, bypass: string): boolean {
  return bypass
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = '', only = ''] = /^(?:\*?\.)?(\[.*\]|[^:]*|.*:.*:.*)(?::(\d+))?$/.exec(entry) ?? [];
      const isHost = entry === '*' || hostname === host || hostname.endsWith(`.${host}`);
      return isHost && (only === '' || only === port);
    });
}
