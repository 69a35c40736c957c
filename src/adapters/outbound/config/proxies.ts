import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type Environment, PROXY_VARIABLES, variableText } from './environment.ts';
import { passwordsOf } from './secret-forms.ts';

export interface ProxyLayer {
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
  const named = (name: string) => [name.toLowerCase(), name].find((variant) => textOf(variant) !== '') ?? '';
  const [https = '', http = '', bypass = ''] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(named);
  const problems = [https, http]
    .filter((name) => name !== '' && toProxyUrl(textOf(name)) === undefined)
    .map((name) => ({ where: name, value: textOf(name), message: EXPECTED }));
  // As in other programs, the proxy for http also serves https if no other is set.
  const url = toProxyUrl(textOf(baseUrl.startsWith('https:') ? https || http : http));
  const names = [https, http, bypass].filter((name) => name !== '');
  const secrets = PROXY_VARIABLES.flatMap((name) => passwordsOf(textOf(name)));
  return url === undefined || matchesNoProxy(baseUrl, textOf(bypass))
    ? { names, secrets, problems }
    : { proxy: url, names, secrets, problems };
}

const EXPECTED = 'expected the URL of a proxy, such as http://proxy.example:8080';

/** The scheme is often left out. The user and password must be decodable, since undici decodes them for each connection. */
function toProxyUrl(text: string): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url) || !/^https?:\/\/[^/]/i.test(url)) return undefined;
  const { username, password } = new URL(url);
  try {
    decodeURIComponent(username + password);
    return url;
  } catch {
    return undefined;
  }
}

/** `NO_PROXY`: hosts including their subdomains, each with or without a port; `*` matches all. */
function matchesNoProxy(url: string, bypass: string): boolean {
  const { hostname, port } = new URL(url);
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
