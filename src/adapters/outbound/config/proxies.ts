import type { ConfigProblem } from '../../../application/ports/config.ts';
import { decoded, withScheme } from './addresses.ts';
import { type Environment, PROXY_VARIABLES, variableText } from './environment.ts';
import { passwordsOf } from './secrets.ts';

interface ProxyLayer {
  /** The URL of the proxy for requests to the API; absent if they are sent directly. */
  readonly proxy?: string;
  /** The variables that were used. */
  readonly names: readonly string[];
  /** The passwords of all proxies: servers inherit the variables. */
  readonly secrets: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower case, for requests to `baseUrl`. */
export function readProxy(environment: Environment, baseUrl: string): ProxyLayer {
  const textOf = (name: string) => variableText(environment, name);
  if (PROXY_VARIABLES.every((name) => textOf(name) === '')) return { names: [], secrets: [], problems: [] };
  const secrets = PROXY_VARIABLES.flatMap((name) => passwordsOf(textOf(name)));
  const named = (name: string) => [name.toLowerCase(), name].find((variant) => textOf(variant) !== '') ?? '';
  const [https = '', http = '', bypass = ''] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(named);
  const problems = [https, http]
    .filter((name) => name !== '' && toProxyUrl(textOf(name)) === undefined)
    .map((name) => ({ where: name, value: textOf(name), message: EXPECTED }));
  // As in other programs, the proxy for http also serves https if no other is set.
  const proxy = toProxyUrl(textOf(baseUrl.startsWith('https:') ? https || http : http));
  const names = [https, http, bypass].filter((name) => name !== '');
  const isUsed = proxy !== undefined && !matchesNoProxy(new URL(baseUrl), textOf(bypass));
  return { ...(isUsed && { proxy }), names, secrets, problems };
}

const EXPECTED = 'expected the URL of a proxy, such as http://proxy.example:8080';

function toProxyUrl(text: string): string | undefined {
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
      const [, host = '', only = ''] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const isHost = entry === '*' || hostname === host || hostname.endsWith(`.${host}`);
      return isHost && (only === '' || only === port);
    });
}
