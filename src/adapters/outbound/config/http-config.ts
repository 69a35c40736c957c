import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { Environment } from './environment.ts';
import { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { isTree, type Tree, valueAt } from './tree.ts';
import { listenAddress } from './value-kinds.ts';

/** What the HTTP endpoint is told. */
export interface HttpConfig extends ListenAddress {
  /** Where MCP is served, such as `/mcp`. */
  readonly path: string;
  /** Who may call, and with which token; where there is none, no token is asked for. */
  readonly tokens: readonly CallerToken[];
  /** Host names that may stand in `Host` besides those of this machine; `*` stands for any. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may call, such as `https://chat.example.com`. */
  readonly allowedOrigins: readonly string[];
  /** How long calls in flight may go on after the process was told to end. */
  readonly drainMs: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
}

export interface CallerToken {
  readonly caller: string;
  readonly token: string;
}

/** The name of the one caller there is where `http.token_env` names a variable alone. */
const ONLY_CALLER = 'default';

/** The section `http`, or what is wrong with it. */
export interface HttpLayer {
  readonly http?: HttpConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the section `http` of the merged keys, and the tokens from the variables that it names. */
export function readHttpConfig(tree: Tree, environment: Environment): HttpLayer {
  // Every key was checked before; only the command line's address was not.
  const at = <T>(path: string) => valueAt(tree, `http.${path}`) as T;
  const listen = at<string>('listen');
  const address = parseListenAddress(listen);
  if (address === undefined) {
    return { problems: [{ where: 'http.listen', value: listen, accepted: listenAddress.accepted }] };
  }
  const { tokens, problems } = readTokens(at<unknown>('token_env'), environment);
  const open = { where: 'http.listen', value: listen, accepted: OPEN_WITHOUT_TOKEN };
  const isOpen = !isLoopback(address) && tokens.length === 0 && problems.length === 0;
  return {
    problems: isOpen ? [open] : problems,
    http: {
      ...address,
      path: at('path'),
      tokens,
      allowedHosts: at('allowed_hosts'),
      allowedOrigins: at('allowed_origins'),
      drainMs: at('drain_ms'),
      maxBodyBytes: at('max_body_bytes'),
      maxConnections: at('max_connections'),
      maxCallsPerToken: at('max_calls_per_token'),
    },
  };
}

const OPEN_WITHOUT_TOKEN =
  'an address of this machine alone, such as 127.0.0.1:3917, unless http.token_env (MCP_HTTP_TOKEN_ENV) names the variable that holds a token';

function readTokens(
  tokenEnv: unknown,
  environment: Environment,
): { readonly tokens: readonly CallerToken[]; readonly problems: readonly ConfigProblem[] } {
  const variables = isTree(tokenEnv) ? tokenEnv : tokenEnv === undefined ? {} : { [ONLY_CALLER]: tokenEnv };
  const tokens: CallerToken[] = [];
  const problems: ConfigProblem[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const variable = String(name);
    const token = environment[variable]?.trim() ?? '';
    const twin = tokens.find((other) => other.token === token);
    // The value itself is never shown.
    if (token === '') problems.push({ where: variable, accepted: 'a token, since http.token_env names this variable' });
    else if (!/^[\x21-\x7E]+$/.test(token)) problems.push({ where: variable, accepted: 'a token of visible ASCII' });
    else if (twin !== undefined) problems.push({ where: variable, accepted: `another token than ${twin.caller} has` });
    else tokens.push({ caller, token });
  }
  return { tokens, problems };
}
