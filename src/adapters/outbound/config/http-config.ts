import { isSendableKey } from '../../../domain/values/redaction.ts';
import { isLoopback, parseListenAddress } from '../network/addresses.ts';
import { type Environment, shownName, variableText } from '../network/environment.ts';
import type { ConfigTree } from './config-tree.ts';
import { TABLE } from './keys.ts';
import type { Report } from './problems.ts';
import { hostPort, secureUrl } from './value-kinds.ts';

/** The section `http.oauth`. */
export type OAuthConfig = NonNullable<ReturnType<typeof readOAuth>>;

/** The name of the caller if `http.token_env` is a single variable. */
const ONLY_CALLER = 'default';
/** The variable with the token of the caller `default`, unless `http.token_env` names another one. */
const TOKEN_VARIABLE = 'MCP_HTTP_TOKEN';
const TOKEN_REQUIRED =
  'other machines can reach this address, so a token is required: set MCP_HTTP_TOKEN to the token, or MCP_HTTP_TOKEN_ENV (http.token_env) to the name of the variable that contains it, or configure an authorization server (http.oauth)';
const WILDCARD_NEEDS_TOKEN =
  'without the check of Host, any page could call this endpoint, so a token is required: set MCP_HTTP_TOKEN to the token, or list the host names';
/** Other machines can guess tokens as often as the network allows, so short ones are refused. */
const MIN_TOKEN_LENGTH = 20;
const SHORT_TOKEN = `other machines can reach this address, so a token must have at least ${MIN_TOKEN_LENGTH} characters; create one with: openssl rand -base64 32`;
const EMPTY_TOKEN = 'is empty or not set; http.token_env (MCP_HTTP_TOKEN_ENV) expects a token in it';
const OAUTH_REQUIRED = {
  issuer: 'required with http.oauth: the issuer of the tokens, exactly as in their claim iss',
  audience:
    'required with http.oauth: the value of the claim aud in the tokens, usually the public URL of the endpoint, such as https://mcp.example.com/mcp',
  resource:
    'required, because http.oauth.audience is not an https:// URL: the public URL of the endpoint, such as https://mcp.example.com/mcp',
};

/** The section `http`, with the tokens of callers. Without tokens and `oauth`, callers need no token. With a problem, the result must not be used. */
export function readHttpConfig({ http }: Pick<ConfigTree, 'http'>, environment: Environment, report: Report) {
  const { listen, tokenEnv, oauth: section, quota: _, ...rest } = http;
  // An address from the command line was not validated before.
  const address = parseListenAddress(listen);
  if (address === undefined) return void report('http.listen', `expected ${hostPort.accepted}`, listen);
  const isPublic = !isLoopback(address.host);
  const tokens = readTokens(tokenEnv, environment, isPublic ? MIN_TOKEN_LENGTH : 1, report);
  const oauth = readOAuth(section, report);
  const requiresToken = tokens.length > 0 || isConfigured(section);
  // Clients send the host of the public URL in `Host`.
  const allowedHosts = [...rest.allowedHosts, ...(oauth === undefined ? [] : [new URL(oauth.resource).hostname])];
  if (isPublic && !requiresToken) return void report('http.listen', TOKEN_REQUIRED, listen);
  if (allowedHosts.includes('*') && !requiresToken) return void report('http.allowed_hosts', WILDCARD_NEEDS_TOKEN, '*');
  return { ...rest, ...address, allowedHosts, tokens, oauth };
}

/** The section `http.oauth`; undefined if nothing is configured, or if there are problems. */
export function readOAuth(section: ConfigTree['http']['oauth'], report: Report) {
  if (!isConfigured(section)) return undefined;
  const { issuer, audience, jwksUri, groupsClaim } = section;
  const isUrl = secureUrl.fromText(audience ?? '') !== undefined;
  const resource = section.resource ?? (isUrl ? audience : undefined);
  if (issuer === undefined) report('http.oauth.issuer', OAUTH_REQUIRED.issuer);
  if (audience === undefined) report('http.oauth.audience', OAUTH_REQUIRED.audience);
  else if (resource === undefined) report('http.oauth.resource', OAUTH_REQUIRED.resource);
  if (issuer === undefined || audience === undefined || resource === undefined) return undefined;
  return { ...section, issuer, audience, resource, jwksUri, groupsClaim };
}

function isConfigured({ scopes, callerClaim, ...others }: ConfigTree['http']['oauth']): boolean {
  const isDefault = scopes.length === 0 && callerClaim === TABLE.http.oauth.caller_claim.default;
  return !isDefault || Object.keys(others).length > 0;
}

/** Reads the tokens of callers. Problems name variables, and never show their values. */
function readTokens(
  tokenEnv: ConfigTree['http']['tokenEnv'] = {},
  environment: Environment,
  minLength: number,
  report: Report,
) {
  const named = typeof tokenEnv === 'string' ? { [ONLY_CALLER]: tokenEnv } : tokenEnv;
  const isDirect = variableText(environment, TOKEN_VARIABLE) !== '';
  const variables = isDirect && !(ONLY_CALLER in named) ? { ...named, [ONLY_CALLER]: TOKEN_VARIABLE } : named;
  const tokens: { readonly caller: string; readonly token: string }[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const token = variableText(environment, name);
    const twin = tokens.find((other) => other.token === token);
    const problem = (message: string) => report(shownName(name), message);
    if (token === '') problem(EMPTY_TOKEN);
    else if (!isSendableKey(token)) problem('expected a token of visible ASCII');
    else if (token.length < minLength) problem(SHORT_TOKEN);
    else if (twin !== undefined) problem(`is also the token of ${twin.caller}; each caller needs a token of its own`);
    tokens.push({ caller, token });
  }
  return tokens;
}
