import { createHash } from 'node:crypto';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { isSendableKey } from '../../../domain/values/redaction.ts';
import { readText } from '../files/local-files.ts';
import { isLoopback, parseListenAddress } from '../network/addresses.ts';
import { type Environment, shownName, variableText } from '../network/environment.ts';
import type { ConfigTree } from './keys.ts';
import { isOAuthConfigured, readOAuth } from './oauth-config.ts';
import { type Report, reporter } from './problems.ts';
import { withoutQuotationMarks } from './secrets.ts';
import type { ConfigOptions } from './set-keys.ts';
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

/** A token of a caller, of which only the SHA-256 is kept. */
export interface CallerToken {
  readonly caller: string;
  readonly hash: Buffer;
}

/** The tokens of a file, at least one, or every reason why the file cannot be used. */
export type TokenFile = { readonly tokens: readonly CallerToken[] } | { readonly problems: readonly string[] };

/** No line is shown, because it may be a token by mistake. */
const LINE =
  'expected a caller, the SHA-256 of the token in hexadecimal (not the token itself) and, if you like, a note; the command token <caller> creates such a line';
const CREATE = 'write a line that the command token <caller> creates';

/** The hash of a variable that was not set, with which requests without a token would be accepted. */
const EMPTY = hashOfToken('');

/** Reads `http.token_file`. `others` are the tokens of variables: a caller may be in both, a token only under one caller. */
export function readTokenFile(path: string, others: readonly CallerToken[]): TokenFile & { readonly content: string } {
  const read = readText(path);
  if ('reason' in read) return { content: '', problems: [`expected a file that can be read (${read.reason})`] };
  return { content: read.text, ...parseTokens(read.text, others) };
}

function parseTokens(text: string, others: readonly CallerToken[]): TokenFile {
  if (/[\0\uFFFD]/.test(text)) return { problems: ['expected text in UTF-8'] };
  const tokens: (CallerToken & { readonly place: string })[] = [];
  const problems: string[] = [];
  for (const [index, row] of text.split(/\r\n?|\n/).entries()) {
    const [caller = '', sha256 = ''] = row.trim().split(/\s+/);
    if (caller === '' || caller.startsWith('#')) continue;
    const place = `line ${index + 1}`;
    const isLine = TOKEN_CALLER.test(caller) && /^[\da-f]{64}$/i.test(sha256);
    const hash = Buffer.from(isLine ? sha256 : '', 'hex');
    const twin = tokens.find((other) => other.hash.equals(hash));
    const other = others.find((one) => one.caller !== caller && one.hash.equals(hash));
    if (!isLine) problems.push(`${place}: ${LINE}`);
    else if (caller === LOCAL_CALLER)
      problems.push(`${place}: ${LOCAL_CALLER} is the user of this machine; give the caller another name`);
    else if (hash.equals(EMPTY)) problems.push(`${place}: this is the SHA-256 of an empty text; ${CREATE}`);
    else if (twin?.caller === caller) problems.push(`${place}: repeats ${twin.place}; remove one of them`);
    else if (twin !== undefined) problems.push(`${place}: has the token of ${twin.place}; ${OWN_TOKEN}`);
    else if (other !== undefined)
      problems.push(`${place}: has the token of ${other.caller} (http.token_env); ${OWN_TOKEN}`);
    else tokens.push({ caller, hash, place });
  }
  if (problems.length > 0) return { problems };
  return tokens.length > 0 ? { tokens } : { problems: [`expected a token; ${CREATE}`] };
}

const OWN_TOKEN = 'each caller needs a token of its own';

/** The hash by which a token is known. All hashes have the same length. */
export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Problems as one text. A file of another format has one in every line, so that only the first ones are named. */
export function listOfProblems(problems: readonly string[]): string {
  const more = problems.length - MAX_NAMED;
  return [...problems.slice(0, MAX_NAMED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

const MAX_NAMED = 5;
