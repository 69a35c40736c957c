import { type ConfigTree, TABLE } from './keys.ts';
import type { Report } from './problems.ts';
import { secureUrl } from './value-kinds.ts';

/** The section `http.oauth`. */
export type OAuthConfig = NonNullable<ReturnType<typeof readOAuth>>;

const OAUTH_REQUIRED = {
  issuer: 'required with http.oauth: the issuer of the tokens, exactly as in their claim iss',
  audience:
    'required with http.oauth: the value of the claim aud in the tokens, usually the public URL of the endpoint, such as https://mcp.example.com/mcp',
  resource:
    'required, because http.oauth.audience is not an https:// URL: the public URL of the endpoint, such as https://mcp.example.com/mcp',
};

/** The section `http.oauth`; undefined if nothing is configured, or if there are problems. */
export function readOAuth(section: ConfigTree['http']['oauth'], report: Report) {
  if (!isOAuthConfigured(section)) return undefined;
  const { issuer, audience, jwksUri, groupsClaim } = section;
  const isUrl = secureUrl.fromText(audience ?? '') !== undefined;
  const resource = section.resource ?? (isUrl ? audience : undefined);
  if (issuer === undefined) report('http.oauth.issuer', OAUTH_REQUIRED.issuer);
  if (audience === undefined) report('http.oauth.audience', OAUTH_REQUIRED.audience);
  else if (resource === undefined) report('http.oauth.resource', OAUTH_REQUIRED.resource);
  if (issuer === undefined || audience === undefined || resource === undefined) return undefined;
  return { ...section, issuer, audience, resource, jwksUri, groupsClaim };
}

/** Whether a key of the section is set. One that only changes another counts, too, because it would have no effect. */
export function isOAuthConfigured({ scopes, callerClaim, ...others }: ConfigTree['http']['oauth']): boolean {
  const isDefault = scopes.length === 0 && callerClaim === TABLE.http.oauth.caller_claim.default;
  return !isDefault || Object.keys(others).length > 0;
}
