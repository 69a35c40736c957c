import type { ConfigProblem } from '../../../application/ports/config.ts';
import { DEFAULTS, type Values } from './keys.ts';
import { secureUrl } from './value-kinds.ts';

/** The section `http.oauth`. */
export interface OAuthConfig {
  readonly issuer: string;
  readonly audience: string;
  /** The public URL of the endpoint. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly jwksUri: string | undefined;
  readonly callerClaim: string;
}

/** Undefined if nothing is configured, or if there are problems. */
export function readOAuth(values: Values): {
  readonly oauth?: OAuthConfig;
  readonly problems: readonly ConfigProblem[];
} {
  const get = (key: string) => (values.get(`http.oauth.${key}`) ?? undefined) as string | undefined;
  const [issuer, audience, jwksUri] = [get('issuer'), get('audience'), get('jwks_uri')];
  const isUrl = secureUrl.fromText(audience ?? '') !== undefined;
  const resource = get('resource') ?? (isUrl ? audience : undefined);
  const scopes = values.get('http.oauth.scopes') as readonly string[];
  const callerClaim = values.get('http.oauth.caller_claim') as string;
  const isDefault = scopes.length === 0 && callerClaim === DEFAULTS.get('http.oauth.caller_claim');
  const isEmpty = [issuer, audience, resource, jwksUri].every((value) => value === undefined);
  if (isEmpty && isDefault) return { problems: [] };
  const missing = { issuer, audience, ...(audience === undefined ? {} : { resource }) };
  const problems = Object.entries(missing)
    .filter(([, value]) => value === undefined)
    .map(([key]) => ({ where: `http.oauth.${key}`, message: REQUIRED[key] ?? '' }));
  if (issuer === undefined || audience === undefined || resource === undefined) return { problems };
  return { oauth: { issuer, audience, resource, scopes, jwksUri, callerClaim }, problems };
}

const REQUIRED: Readonly<Record<string, string>> = {
  issuer: 'required with http.oauth: the issuer of the tokens, exactly as in their claim iss',
  audience:
    'required with http.oauth: what the claim aud of the tokens must be, usually the public URL of the endpoint, such as https://mcp.example.com/mcp',
  resource:
    'required, because http.oauth.audience is not an https:// URL: the public URL of the endpoint, such as https://mcp.example.com/mcp',
};
