import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Environment } from './environment.ts';

/** The proxies that the environment names. */
export interface Proxies {
  readonly http?: string;
  readonly https?: string;
  /** Hosts that are reached directly, as `NO_PROXY` lists them. */
  readonly bypass?: string;
}

/** `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in either case; an empty variable is an absent one. */
export function readProxies(environment: Environment): {
  readonly proxies?: Proxies;
  readonly names: readonly string[];
  readonly problems: readonly ConfigProblem[];
} {
  const named = (name: string) => [name.toLowerCase(), name].find((each) => (environment[each] ?? '').trim() !== '');
  const textOf = (name: string | undefined) => (name === undefined ? '' : (environment[name] ?? '').trim());
  const [https, http, bypass] = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].map(named);
  const problems = [https, http].flatMap((name): readonly ConfigProblem[] =>
    name === undefined || toProxyUrl(textOf(name)) !== undefined
      ? []
      : [{ where: name, value: textOf(name), accepted: 'the URL of a proxy, such as http://proxy.example:8080' }],
  );
  if (https === undefined && http === undefined) return { names: [], problems };
  return {
    proxies: {
      http: toProxyUrl(textOf(http)) ?? '',
      // As curl and others do: the proxy for http serves https where no other is named.
      https: toProxyUrl(textOf(https ?? http)) ?? '',
      bypass: textOf(bypass),
    },
    names: [https, http, bypass].filter((name) => name !== undefined),
    problems,
  };
}

/** People leave the scheme out. */
function toProxyUrl(text: string): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  return URL.canParse(url) && /^https?:\/\/[^/]/i.test(url) ? url : undefined;
}
