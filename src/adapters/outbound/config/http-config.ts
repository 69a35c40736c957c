import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/json.ts';
import { isSendableKey } from '../../../domain/redaction.ts';
import { type Environment, shownName, variableText } from './environment.ts';
import type { Values } from './keys.ts';
import { isLoopback, type ListenAddress, parseListenAddress } from './listen-address.ts';
import { type OAuthConfig, readOAuth } from './oauth-config.ts';
import { hostPort } from './value-kinds.ts';

/** The configuration of the HTTP endpoint: the address on which it listens, and the section `http`. */
export type HttpConfig = ReturnType<typeof toHttpConfig>;

interface CallerToken {
  readonly caller: string;
  readonly token: string;
}

/** The name of the caller if `http.token_env` is a single variable. */
const ONLY_CALLER = 'default';

/** The token itself, for one caller. */
export const TOKEN_VARIABLE = 'MCP_HTTP_TOKEN';

const TOKEN_REQUIRED =
  'other machines can reach this address, so a token is required: set MCP_HTTP_TOKEN to the token, or MCP_HTTP_TOKEN_ENV (http.token_env) to the name of the variable that contains it, or configure an authorization server (http.oauth)';
const WILDCARD = '*';
const WILDCARD_NEEDS_TOKEN =
  'without the check of Host, any page could call this endpoint, so a token is required: set MCP_HTTP_TOKEN to the token, or list the host names';
/** Anyone can guess, as often as the network allows. */
const MIN_TOKEN_LENGTH = 20;
const SHORT_TOKEN = `other machines can reach this address, so a token must have at least ${MIN_TOKEN_LENGTH} characters; create one with: openssl rand -base64 32`;
const EMPTY_TOKEN =
  'empty or not set, but MCP_HTTP_TOKEN_ENV (http.token_env) says that this variable contains the token';

/** The section `http`, or the problems with it. */
export interface HttpLayer {
  readonly http?: HttpConfig;
  readonly problems: readonly ConfigProblem[];
}

/** Reads the section `http` of the merged keys, and the tokens from the variables that it names. */
export function readHttpConfig(values: Values, environment: Environment): HttpLayer {
  const listen = String(values.get('http.listen'));
  const listenProblem = (message: string) => ({ problems: [{ where: 'http.listen', value: listen, message }] });
  // An address on the command line has not been validated before.
  const address = parseListenAddress(listen);
  if (address === undefined) return listenProblem(`expected ${hostPort.accepted}`);
  const minLength = isLoopback(address) ? 1 : MIN_TOKEN_LENGTH;
  const { tokens, problems } = readTokens(values.get('http.token_env'), environment, minLength);
  const { oauth, problems: ofOAuth } = readOAuth(values);
  if (problems.length + ofOAuth.length > 0) return { problems: [...problems, ...ofOAuth] };
  const requiresToken = tokens.length > 0 || oauth !== undefined;
  if (!isLoopback(address) && !requiresToken) return listenProblem(TOKEN_REQUIRED);
  const http = toHttpConfig(values, address, tokens, oauth);
  if (http.allowedHosts.includes(WILDCARD) && !requiresToken) {
    return { problems: [{ where: 'http.allowed_hosts', value: WILDCARD, message: WILDCARD_NEEDS_TOKEN }] };
  }
  return { http, problems };
}

function toHttpConfig(
  values: Values,
  address: ListenAddress,
  tokens: readonly CallerToken[],
  oauth: OAuthConfig | undefined,
) {
  const get = <T>(path: string) => values.get(path) as T;
  return {
    ...address,
    path: get<string>('http.path'),
    /** Without any and without `oauth`, no token is required. */
    tokens,
    oauth,
    // Clients use the host name of the public URL.
    allowedHosts: [
      ...get<readonly string[]>('http.allowed_hosts'),
      ...(oauth === undefined ? [] : [new URL(oauth.resource).hostname]),
    ],
    allowedOrigins: get<readonly string[]>('http.allowed_origins'),
    /** Whether the page for people is served at `/`. */
    page: get<boolean>('http.page'),
    drainMs: get<number>('http.drain_ms'),
    maxBodyBytes: get<number>('http.max_body_bytes'),
    maxConnections: get<number>('http.max_connections'),
    maxCallsPerToken: get<number>('http.max_calls_per_token'),
  };
}

/** No value of a variable is shown. */
function readTokens(tokenEnv: unknown, environment: Environment, minLength: number) {
  const named = isObject(tokenEnv) ? tokenEnv : tokenEnv === undefined ? {} : { [ONLY_CALLER]: tokenEnv };
  // Unlike the others, this variable contains the token itself (ruling A21).
  const isDirect = variableText(environment, TOKEN_VARIABLE) !== '';
  const variables = isDirect && !(ONLY_CALLER in named) ? { ...named, [ONLY_CALLER]: TOKEN_VARIABLE } : named;
  const tokens: CallerToken[] = [];
  const problems: ConfigProblem[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const token = variableText(environment, String(name));
    const twin = tokens.find((other) => other.token === token);
    const report = (message: string) => problems.push({ where: shownName(String(name)), message });
    if (token === '') report(EMPTY_TOKEN);
    else if (!isSendableKey(token)) report('expected a token of visible ASCII');
    else if (token.length < minLength) report(SHORT_TOKEN);
    else if (twin !== undefined) report(`the token of ${twin.caller} must not be used twice`);
    else tokens.push({ caller, token });
  }
  return { tokens, problems };
}
