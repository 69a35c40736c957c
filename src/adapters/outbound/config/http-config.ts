import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isSendableKey } from '../../../domain/redaction.ts';
import { isLoopback, type ListenAddress, parseListenAddress } from './addresses.ts';
import type { ConfigTree } from './config-tree.ts';
import { type Environment, shownName, variableText } from './environment.ts';
import { TABLE } from './keys.ts';
import { hostPort, secureUrl } from './value-kinds.ts';

/** The section `http`. Without tokens and without an authorization server, no token is required. */
export interface HttpConfig extends ListenAddress, Omit<ConfigTree['http'], 'listen' | 'tokenEnv' | 'oauth' | 'quota'> {
  readonly tokens: readonly CallerToken[];
  readonly oauth: OAuthConfig | undefined;
}

interface HttpLayer {
  readonly http?: HttpConfig;
  readonly problems: readonly ConfigProblem[];
}

interface CallerToken {
  readonly caller: string;
  readonly token: string;
}

/** The section `http.oauth`. */
export type OAuthConfig = NonNullable<ReturnType<typeof readOAuth>['oauth']>;

/** The name of the caller if `http.token_env` is a single variable. */
const ONLY_CALLER = 'default';
/** The token itself, for one caller. */
const TOKEN_VARIABLE = 'MCP_HTTP_TOKEN';
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
const OAUTH_REQUIRED = {
  issuer: 'required with http.oauth: the issuer of the tokens, exactly as in their claim iss',
  audience:
    'required with http.oauth: what the claim aud of the tokens must be, usually the public URL of the endpoint, such as https://mcp.example.com/mcp',
  resource:
    'required, because http.oauth.audience is not an https:// URL: the public URL of the endpoint, such as https://mcp.example.com/mcp',
};

/** The section `http` and the tokens from the variables that it names, or the problems with them. */
export function readHttpConfig({ http: section }: Pick<ConfigTree, 'http'>, environment: Environment): HttpLayer {
  const { listen, tokenEnv, oauth: _oauth, quota: _quota, ...rest } = section;
  const listenProblem = (message: string) => ({ problems: [{ where: 'http.listen', value: listen, message }] });
  // An address on the command line has not been validated before.
  const address = parseListenAddress(listen);
  if (address === undefined) return listenProblem(`expected ${hostPort.accepted}`);
  const isPublic = !isLoopback(address.host);
  const { tokens, problems: ofTokens } = readTokens(tokenEnv, environment, isPublic ? MIN_TOKEN_LENGTH : 1);
  const { oauth, problems: ofOAuth } = readOAuth(section);
  const problems: readonly ConfigProblem[] = [...ofTokens, ...ofOAuth];
  if (problems.length > 0) return { problems };
  const requiresToken = tokens.length > 0 || oauth !== undefined;
  if (isPublic && !requiresToken) return listenProblem(TOKEN_REQUIRED);
  // Clients use the host name of the public URL.
  const allowedHosts = [...rest.allowedHosts, ...(oauth === undefined ? [] : [new URL(oauth.resource).hostname])];
  if (allowedHosts.includes(WILDCARD) && !requiresToken) {
    return { problems: [{ where: 'http.allowed_hosts', value: WILDCARD, message: WILDCARD_NEEDS_TOKEN }] };
  }
  return { http: { ...rest, ...address, allowedHosts, tokens, oauth }, problems };
}

/** The section `http.oauth`: undefined if nothing is configured, or if there are problems. */
export function readOAuth({ oauth: section }: Pick<ConfigTree['http'], 'oauth'>) {
  const { issuer, audience, jwksUri, scopes, callerClaim } = section;
  const isUrl = secureUrl.fromText(audience ?? '') !== undefined;
  const resource = section.resource ?? (isUrl ? audience : undefined);
  const isDefault = scopes.length === 0 && callerClaim === TABLE.http.oauth.caller_claim.default;
  const isEmpty = [issuer, audience, resource, jwksUri].every((value) => value === undefined);
  if (isEmpty && isDefault) return { problems: [] };
  if (issuer !== undefined && audience !== undefined && resource !== undefined)
    return { oauth: { issuer, audience, resource, scopes, jwksUri, callerClaim }, problems: [] };
  const problem = (key: keyof typeof OAUTH_REQUIRED) => ({ where: `http.oauth.${key}`, message: OAUTH_REQUIRED[key] });
  return {
    problems: [
      ...(issuer === undefined ? [problem('issuer')] : []),
      ...(audience === undefined ? [problem('audience')] : resource === undefined ? [problem('resource')] : []),
    ],
  };
}

/** No value of a variable is shown. */
function readTokens(tokenEnv: ConfigTree['http']['tokenEnv'] = {}, environment: Environment, minLength: number) {
  const named = typeof tokenEnv === 'string' ? { [ONLY_CALLER]: tokenEnv } : tokenEnv;
  // Unlike the others, this variable contains the token itself (ruling A21).
  const isDirect = variableText(environment, TOKEN_VARIABLE) !== '';
  const variables = isDirect && !(ONLY_CALLER in named) ? { ...named, [ONLY_CALLER]: TOKEN_VARIABLE } : named;
  const tokens: CallerToken[] = [];
  const problems: ConfigProblem[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const token = variableText(environment, name);
    const twin = tokens.find((other) => other.token === token);
    const report = (message: string) => problems.push({ where: shownName(name), message });
    if (token === '') report(EMPTY_TOKEN);
    else if (!isSendableKey(token)) report('expected a token of visible ASCII');
    else if (token.length < minLength) report(SHORT_TOKEN);
    else if (twin !== undefined) report(`the token of ${twin.caller} must not be used twice`);
    else tokens.push({ caller, token });
  }
  return { tokens, problems };
}
