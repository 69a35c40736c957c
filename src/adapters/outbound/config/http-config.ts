import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/json.ts';
import { isSendableKey } from '../../../domain/redaction.ts';
import { type Environment, shownName, variableText } from './layers.ts';
import { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { type Tree, toCamelCase, valueAt } from './tree.ts';
import { hostPort } from './value-kinds.ts';

/** The configuration of the HTTP endpoint. */
export interface HttpConfig extends ListenAddress {
  /** The path of the MCP endpoint, such as `/mcp`. */
  readonly path: string;
  /** The callers and their tokens; without any, no token is required. */
  readonly tokens: readonly CallerToken[];
  /** Host names accepted in the `Host` header in addition to those of this machine; `*` is any. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call, such as `https://chat.example.com`. */
  readonly allowedOrigins: readonly string[];
  /** Time that calls in flight get to finish after the process was asked to stop. */
  readonly drainMs: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
}

interface CallerToken {
  readonly caller: string;
  readonly token: string;
}

/** The section as in YAML: the address is one text, and the tokens are in variables. */
interface HttpSection extends Omit<HttpConfig, keyof ListenAddress | 'tokens'> {
  readonly listen: string;
  readonly tokenEnv?: unknown;
}

/** The name of the caller if `http.token_env` is a single variable. */
const ONLY_CALLER = 'default';

const TOKEN_REQUIRED =
  'other machines can reach this address, so a token is required: set MCP_HTTP_TOKEN_ENV (http.token_env) to the name of the variable that contains it';
const EMPTY_TOKEN =
  'empty or not set, but MCP_HTTP_TOKEN_ENV (http.token_env) says that this variable contains the token';

/** The section `http`, or the problems with it. */
export interface HttpLayer {
  readonly http?: HttpConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the section `http` of the merged keys, and the tokens from the variables that it names. */
export function readHttpConfig(tree: Tree, environment: Environment): HttpLayer {
  const { listen, tokenEnv, ...rest } = toCamelCase<HttpSection>(valueAt(tree, 'http'));
  const listenProblem = (message: string) => ({ problems: [{ where: 'http.listen', value: listen, message }] });
  // An address on the command line has not been validated before.
  const address = parseListenAddress(listen);
  if (address === undefined) return listenProblem(`expected ${hostPort.accepted}`);
  const { tokens, problems } = readTokens(tokenEnv, environment);
  if (problems.length > 0) return { problems };
  if (!isLoopback(address) && tokens.length === 0) return listenProblem(TOKEN_REQUIRED);
  return { http: { ...rest, ...address, tokens }, problems };
}

/** No value of a variable is shown. */
function readTokens(tokenEnv: unknown, environment: Environment) {
  const variables = isObject(tokenEnv) ? tokenEnv : tokenEnv === undefined ? {} : { [ONLY_CALLER]: tokenEnv };
  const tokens: CallerToken[] = [];
  const problems: ConfigProblem[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const token = variableText(environment, String(name));
    const twin = tokens.find((other) => other.token === token);
    const report = (message: string) => problems.push({ where: shownName(String(name)), message });
    if (token === '') report(EMPTY_TOKEN);
    else if (!isSendableKey(token)) report('expected a token of visible ASCII');
    else if (twin !== undefined) report(`the token of ${twin.caller} must not be used twice`);
    else tokens.push({ caller, token });
  }
  return { tokens, problems };
}
