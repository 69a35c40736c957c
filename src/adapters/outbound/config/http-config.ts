import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isSendableKey } from '../../../domain/values/redaction.ts';
import { isLoopback, parseListenAddress } from '../network/addresses.ts';
import { type Environment, shownName, variableText } from '../network/environment.ts';
import type { ConfigTree } from './keys.ts';
import { isOAuthConfigured, readOAuth } from './oauth-config.ts';
import { type Report, reporter } from './problems.ts';
import { withoutQuotationMarks } from './secrets.ts';
import type { ConfigOptions } from './set-keys.ts';
import { type CallerToken, hashOfToken, listOfProblems, readTokenFile } from './token-file.ts';
import { hostPort } from './value-kinds.ts';

/** The section `http` in use. */
export type HttpConfig = NonNullable<ReturnType<typeof readHttpConfig>>;

/** The name of the caller if `http.token_env` is a single variable. */
const ONLY_CALLER = 'default';
/** The variable with the token of the caller `default`, unless `http.token_env` names another one. */
const TOKEN_VARIABLE = 'MCP_HTTP_TOKEN';
const TOKEN_REQUIRED =
  'other machines can reach this address, so a token is required: set MCP_HTTP_TOKEN to the token, or MCP_HTTP_TOKEN_ENV (http.token_env) to the name of the variable that contains it, or MCP_HTTP_TOKEN_FILE (http.token_file) to a file of tokens, or configure an authorization server (http.oauth)';
const WILDCARD_NEEDS_TOKEN =
  'without the check of Host, any page could call this endpoint, so a token is required: set MCP_HTTP_TOKEN to the token, or list the host names';
/** Other machines can guess tokens as often as the network allows, so short ones are refused. */
const MIN_TOKEN_LENGTH = 20;
const SHORT_TOKEN = `other machines can reach this address, so a token must have at least ${MIN_TOKEN_LENGTH} characters; create one with: openssl rand -base64 32`;
const EMPTY_TOKEN = 'is empty or not set; http.token_env (MCP_HTTP_TOKEN_ENV) expects a token in it';
const unsetToken = (caller: string) => `is not set here, so that the token of ${caller} is not checked`;
const NO_TOKEN = `is empty or not set, so that there is no caller ${ONLY_CALLER} (http.token_env, MCP_HTTP_TOKEN_ENV)`;
/**
 * The section `http`, with the tokens of callers. Without tokens and `oauth`, callers need no token. With a problem, the result must not be used. A
 * reload keeps the tokens of the file if it has problems, which are then reported elsewhere.
 */
export function readHttpConfig(
  { http }: Pick<ConfigTree, 'http'>,
  environment: Environment,
  report: Report,
  { isReload = false, unset }: Pick<ConfigOptions, 'isReload' | 'unset'> = {},
) {
  const { listen, tokenEnv, tokenFile, oauth: section, quota: _, ...rest } = http;
  // An address from the command line was not validated before.
  const address = parseListenAddress(listen);
  if (address === undefined) return void report('http.listen', `expected ${hostPort.accepted}`, listen);
  const isPublic = !isLoopback(address.host);
  const minTokenLength = isPublic ? MIN_TOKEN_LENGTH : 1;
  const hasOthers = tokenFile !== undefined || isOAuthConfigured(section);
  const { tokens, notices } = readTokens({ tokenEnv, environment, minTokenLength, hasOthers, unset }, report);
  const file = tokenFile === undefined ? undefined : { path: tokenFile, ...readTokenFile(tokenFile, tokens) };
  if (file !== undefined && 'problems' in file && !isReload)
    report('http.token_file', listOfProblems(file.problems), tokenFile);
  const oauth = readOAuth(section, report);
  const requiresToken = tokens.length > 0 || hasOthers;
  const publicUrl = rest.publicUrl ?? (oauth && new URL(oauth.resource).origin) ?? ownOrigin(address);
  // Clients send the host of the public URL in `Host`.
  const urls = [oauth?.resource, rest.publicUrl].filter((url) => url !== undefined);
  const allowedHosts = [...rest.allowedHosts, ...urls.map((url) => new URL(url).hostname)];
  if (isPublic && !requiresToken) return void report('http.listen', TOKEN_REQUIRED, listen);
  if (allowedHosts.includes('*') && !requiresToken) return void report('http.allowed_hosts', WILDCARD_NEEDS_TOKEN, '*');
  const callers = { tokens, tokenFile: file, minTokenLength, oauth, requiresToken };
  return { ...rest, ...address, publicUrl, allowedHosts, ...callers, notices };
}

/** The origin of an address on loopback; undefined beyond loopback, where the names of this machine are not known. */
function ownOrigin({ host, port }: Record<'host', string> & Record<'port', number>): string | undefined {
  return isLoopback(host) ? `http://${host.includes(':') ? `[${host}]` : host}:${port}` : undefined;
}

/** The callers with a token; undefined if the file of tokens cannot be used. */
export function callersOf({ tokens, tokenFile }: HttpConfig): readonly string[] | undefined {
  if (tokenFile !== undefined && 'problems' in tokenFile) return undefined;
  return [...tokens, ...(tokenFile?.tokens ?? [])].map(({ caller }) => caller);
}

interface TokenVariables {
  readonly tokenEnv: ConfigTree['http']['tokenEnv'] | undefined;
  readonly environment: Environment;
  readonly minTokenLength: number;
  /** Whether callers may have tokens of another kind. */
  readonly hasOthers: boolean;
  readonly unset: ConfigProblem[] | undefined;
}

/** Reads the tokens of callers. Problems name variables, and never show their values. */
function readTokens({ tokenEnv = {}, unset, ...options }: TokenVariables, report: Report) {
  const { environment, minTokenLength, hasOthers } = options;
  const named = typeof tokenEnv === 'string' ? { [ONLY_CALLER]: tokenEnv } : tokenEnv;
  const isDirect = variableText(environment, TOKEN_VARIABLE) !== '';
  const variables = isDirect && !(ONLY_CALLER in named) ? { ...named, [ONLY_CALLER]: TOKEN_VARIABLE } : named;
  const tokens: CallerToken[] = [];
  const notices: ConfigProblem[] = [];
  for (const [caller, name] of Object.entries(variables)) {
    const token = withoutQuotationMarks(shownName(name), variableText(environment, name), reporter(notices));
    const hash = hashOfToken(token);
    const twin = tokens.find((other) => other.hash.equals(hash));
    const problem = (message: string) => report(shownName(name), message);
    // The container image names a variable that who uses other tokens need not set.
    if (token === '' && hasOthers && typeof tokenEnv === 'string') {
      notices.push({ where: shownName(name), message: NO_TOKEN });
      continue;
    }
    if (token === '' && unset !== undefined) unset.push({ where: shownName(name), message: unsetToken(caller) });
    else if (token === '') problem(EMPTY_TOKEN);
    else if (!isSendableKey(token)) problem('expected a token of visible ASCII');
    else if (token.length < minTokenLength) problem(SHORT_TOKEN);
    else if (twin !== undefined) problem(`is also the token of ${twin.caller}; each caller needs a token of its own`);
    tokens.push({ caller, hash });
  }
  return { tokens, notices };
}
