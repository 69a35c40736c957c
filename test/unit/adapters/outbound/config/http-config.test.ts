import { describe, expect, test } from 'vitest';
import { readHttpConfig } from '../../../../../src/adapters/outbound/config/http-config.ts';
import { DEFAULTS, TABLE, toConfigTree } from '../../../../../src/adapters/outbound/config/keys.ts';
import { reporter } from '../../../../../src/adapters/outbound/config/problems.ts';
import type { ConfigProblem } from '../../../../../src/application/ports/config.ts';

const ISSUER = 'https://auth.example.com/realms/mcp';
const AUDIENCE = 'https://mcp.example.com/mcp';

/** The section `http` with these keys of `http.oauth`, as it is read after YAML. */
function read(oauth: Readonly<Record<string, unknown>>, others: Readonly<Record<string, unknown>> = {}) {
  const set = Object.entries(oauth).map(([key, value]) => [`http.oauth.${key}`, value] as const);
  const problems: ConfigProblem[] = [];
  const config = toConfigTree(new Map([...DEFAULTS, ...set, ...Object.entries(others)]));
  const http = readHttpConfig(config, {}, reporter(problems));
  return { http, problems: problems.map(({ where, message }) => `${where}: ${message}`) };
}

test('the audience is the public URL, and requests may name its host', () => {
  const { http } = read({ issuer: ISSUER, audience: AUDIENCE }, { 'http.allowed_hosts': ['other.example.com'] });
  expect(http).toMatchObject({
    oauth: { issuer: ISSUER, audience: AUDIENCE, resource: AUDIENCE, scopes: [], callerClaim: 'sub' },
    allowedHosts: ['other.example.com', 'mcp.example.com'],
  });
});

test('all keys are read', () => {
  const { http } = read({
    issuer: ISSUER,
    audience: '11111111-2222-3333-4444-555555555555',
    resource: AUDIENCE,
    scopes: ['ask'],
    jwks_uri: 'https://auth.example.com/keys',
    caller_claim: 'email',
  });
  expect(http?.oauth).toEqual({
    issuer: ISSUER,
    audience: '11111111-2222-3333-4444-555555555555',
    resource: AUDIENCE,
    scopes: ['ask'],
    jwksUri: 'https://auth.example.com/keys',
    callerClaim: 'email',
  });
});

test('an address beyond loopback needs no static token', () => {
  expect(read({ issuer: ISSUER, audience: AUDIENCE }, { 'http.listen': '0.0.0.0:80' }).problems).toEqual([]);
  expect(read({}, { 'http.listen': '0.0.0.0:80' }).problems).toEqual([
    'http.listen: other machines can reach this address, so a token is required: set MCP_HTTP_TOKEN to the token, or MCP_HTTP_TOKEN_ENV (http.token_env) to the name of the variable that contains it, or MCP_HTTP_TOKEN_FILE (http.token_file) to a file of tokens, or configure an authorization server (http.oauth)',
  ]);
});

describe('is a problem:', () => {
  test.each([
    [
      { audience: AUDIENCE },
      ['http.oauth.issuer: required with http.oauth: the issuer of the tokens, exactly as in their claim iss'],
    ],
    [
      { issuer: ISSUER },
      [
        'http.oauth.audience: required with http.oauth: the value of the claim aud in the tokens, usually the public URL of the endpoint, such as https://mcp.example.com/mcp',
      ],
    ],
    [
      { issuer: ISSUER, audience: 'api' },
      [
        'http.oauth.resource: required, because http.oauth.audience is not an https:// URL: the public URL of the endpoint, such as https://mcp.example.com/mcp',
      ],
    ],
  ])('%j', (oauth, problems) => {
    expect(read(oauth).problems).toEqual(problems);
  });

  test('another key alone, which would have no effect', () => {
    expect(read({ caller_claim: 'email' }).problems).toEqual([
      expect.stringMatching(/^http\.oauth\.issuer: required/),
      expect.stringMatching(/^http\.oauth\.audience: required/),
    ]);
  });
});

describe('a URL of http.oauth', () => {
  const { kind } = TABLE.http.oauth.issuer;

  test.each(['https://tenant.auth0.com/', 'http://localhost:8080/realms/mcp'])('%s is kept as it is', (url) => {
    expect(kind.fromText(url)).toBe(url);
  });

  test.each([
    'http://auth.example.com',
    'http://localhost.evil.example',
    'https://user:password@auth.example.com',
    'https://auth.example.com?tenant=a',
    'https://auth.example.com#a',
    'https://auth.example.com/"',
    'https://auth.example.com/ä',
    'ftp://auth.example.com',
  ])('%s is not accepted', (url) => {
    expect(kind.fromText(url)).toBeUndefined();
  });
});
