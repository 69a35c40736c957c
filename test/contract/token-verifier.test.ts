import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { CompactSign, exportSPKI } from 'jose';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { IssuerKeys, readKeySet } from '../../src/adapters/outbound/oauth/issuer-keys.ts';
import {
  JwtTokenVerifier,
  type JwtTokenVerifierOptions,
} from '../../src/adapters/outbound/oauth/jwt-token-verifier.ts';
import type { TokenProblem } from '../../src/application/ports/callers.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { runs } from '../support/sized.ts';
import { describeTokenVerifier } from './describe-token-verifier.ts';
import { newSigningKey, type SigningKey, sign } from './signing-keys.ts';

const AUDIENCE = 'https://mcp.example.com/mcp';
const NOW = Date.parse('2026-01-05T03:00:00Z') / 1000;

let issuer: FakeIssuer;
let rsa: SigningKey;
let ec: SigningKey;
let stranger: SigningKey;

beforeAll(async () => {
  [rsa, ec, stranger] = await Promise.all([
    newSigningKey('RS256', 'rsa'),
    newSigningKey('ES256', 'ec'),
    newSigningKey('RS256', 'stranger'),
  ]);
});

beforeEach(async () => {
  issuer = await FakeIssuer.start();
  issuer.metadata = { jwks_uri: `${issuer.origin}/keys` };
  publish(rsa, ec);
});

function publish(...keys: readonly { readonly jwk: object }[]): void {
  issuer.answers.set('/keys', { body: { keys: keys.map(({ jwk }) => jwk) } });
}

/** The verifier as in production, with a clock that stands at `NOW`. */
function newVerifier(options: Partial<JwtTokenVerifierOptions> = {}): JwtTokenVerifier {
  const clock = new FakeClock('2026-01-05T03:00:00Z');
  const read = (signal: AbortSignal) => readKeySet({ issuer: issuer.origin, jwksUri: undefined, fetch }, signal);
  const keys = new IssuerKeys({ issuer: issuer.origin, clock, logger: new RecordingLogger(), read });
  const usual = { issuer: issuer.origin, audience: AUDIENCE, scopes: [], callerClaim: 'sub' };
  return new JwtTokenVerifier({ ...usual, keys, clock, ...options });
}

const claims = (changes: Readonly<Record<string, unknown>> = {}) => ({
  iss: issuer.origin,
  aud: AUDIENCE,
  sub: 'alice',
  exp: NOW + 300,
  ...changes,
});

/** `ok` and the caller, or what is wrong. */
async function outcomeOf(token: string, options: Partial<JwtTokenVerifierOptions> = {}) {
  const verified = await newVerifier(options).verify(token);
  if (verified.isOk()) return verified.value.caller;
  return verified.error.kind === 'invalid_token' ? verified.error.problem : verified.error.kind;
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token is accepted', () => {
  test.each(['RS256', 'PS384', 'ES512', 'EdDSA', 'Ed25519'])('signed with %s', async (alg) => {
    const key = await newSigningKey(alg, 'new');
    publish(key);
    expect(await outcomeOf(await sign(key, claims()))).toBe('oauth:alice');
  });

  test.each([
    ['typ at+jwt', {}, {}],
    ['typ application/at+jwt', {}, { typ: 'application/at+jwt' }],
    ['typ JWT, as from Entra ID and Auth0', {}, { typ: 'JWT' }],
    ['no typ, as from Okta', {}, { typ: undefined }],
    ['a claim typ, as from Keycloak', { typ: 'Bearer' }, { typ: 'JWT' }],
    ['an audience in a list', { aud: [AUDIENCE] }, {}],
    ['exp within the leeway', { exp: NOW - 29 }, {}],
    ['nbf within the leeway', { nbf: NOW + 29 }, {}],
  ])('with %s', async (_, changes, header) => {
    expect(await outcomeOf(await sign(rsa, claims(changes), header))).toBe('oauth:alice');
  });

  test('for this server and the userinfo of the issuer, as from Auth0', async () => {
    const token = await sign(rsa, claims({ aud: [AUDIENCE, `${issuer.origin}/userinfo`] }));
    expect(await outcomeOf(token)).toBe('oauth:alice');
  });

  test('for a host with a slash, which clients add', async () => {
    const token = await sign(rsa, claims({ aud: 'https://mcp.example.com/' }));
    expect(await outcomeOf(token, { audience: 'https://mcp.example.com' })).toBe('oauth:alice');
  });
});

// S25
describe('an attack fails:', () => {
  const unsigned = (header: object, signature = 'c2lnbmF0dXJl') =>
    `${encoded(header)}.${encoded(claims())}.${signature}`;
  const tampered = async () => {
    const [header = '', , signature = ''] = (await sign(rsa, claims())).split('.');
    return `${header}.${encoded(claims({ sub: 'admin' }))}.${signature}`;
  };
  /** The public key, used as a shared secret. */
  const confused = async (alg: string) => {
    const signed = `${encoded({ alg, kid: 'rsa', typ: 'at+jwt' })}.${encoded(claims())}`;
    const secret = await exportSPKI(rsa.publicKey);
    return `${signed}.${createHmac(`sha${alg.slice(2)}`, secret)
      .update(signed)
      .digest('base64url')}`;
  };
  const withKid = (kid: string) => ({ ...stranger, kid });
  const notClaims = () =>
    new CompactSign(Buffer.from('sub=alice')).setProtectedHeader({ alg: 'RS256', kid: 'rsa' }).sign(rsa.privateKey);

  const ATTACKS: readonly (readonly [string, TokenProblem, () => Promise<string> | string])[] = [
    ['no signature', 'not_a_jwt', () => unsigned({ alg: 'none' }, '')],
    ['alg none', 'unsupported_algorithm', () => unsigned({ alg: 'none', kid: 'rsa' })],
    ['a list of algorithms', 'unsupported_algorithm', () => unsigned({ alg: ['RS256'], kid: 'rsa' })],
    ['no alg', 'unsupported_algorithm', () => unsigned({ kid: 'rsa' })],
    ['HS256 with the public key', 'unsupported_algorithm', () => confused('HS256')],
    ['an unknown key', 'unknown_key', () => sign(stranger, claims())],
    ['another key with a known ID', 'wrong_signature', () => sign(withKid('rsa'), claims())],
    ['an ID of a key of another kind', 'unknown_key', () => sign(withKid('ec'), claims())],
    ['an ID that is not a text', 'unknown_key', () => unsigned({ alg: 'RS256', kid: ['rsa'] })],
    ['no ID, and a key that is not published', 'wrong_signature', () => sign(stranger, claims(), { kid: undefined })],
    ['changed claims', 'wrong_signature', tampered],
    ['a key in the header', 'wrong_signature', () => sign(withKid('rsa'), claims(), { jwk: stranger.jwk })],
    ['a URL of keys in the header', 'unknown_key', () => sign(stranger, claims(), { jku: `${issuer.origin}/evil` })],
    ['a URL of certificates', 'unknown_key', () => sign(stranger, claims(), { x5u: `${issuer.origin}/evil` })],
    ['an extension that must be understood', 'unsupported_header', () => critical()],
    [
      'a payload that is not encoded',
      'not_a_jwt',
      () => unsigned({ alg: 'RS256', kid: 'rsa' }).replace('.', '.{"a":1}'),
    ],
    ['typ of a logout token', 'not_an_access_token', () => sign(rsa, claims(), { typ: 'logout+jwt' })],
    ['an ID token of Keycloak', 'not_an_access_token', () => sign(rsa, claims({ typ: 'ID' }), { typ: 'JWT' })],
    ['an ID token with a nonce', 'not_an_access_token', () => sign(rsa, claims({ nonce: 'n' }), { typ: 'JWT' })],
    ['an ID token with a hash', 'not_an_access_token', () => sign(rsa, claims({ at_hash: 'h' }), { typ: undefined })],
    ['a token that is bound to a key', 'bound_to_a_key', () => sign(rsa, claims({ cnf: { jkt: 'x' } }))],
    ['another issuer', 'wrong_issuer', () => sign(rsa, claims({ iss: 'https://evil.example' }))],
    ['the issuer with a slash', 'wrong_issuer', () => sign(rsa, claims({ iss: `${issuer.origin}/` }))],
    ['another audience', 'wrong_audience', () => sign(rsa, claims({ aud: 'https://other.example.com/mcp' }))],
    ['an audience below', 'wrong_audience', () => sign(rsa, claims({ aud: `${AUDIENCE}/other` }))],
    ['no audience', 'wrong_audience', () => sign(rsa, claims({ aud: undefined }))],
    ['an empty list of audiences', 'wrong_audience', () => sign(rsa, claims({ aud: [] }))],
    [
      'only the userinfo of the issuer',
      'wrong_audience',
      () => sign(rsa, claims({ aud: `${issuer.origin}/userinfo` })),
    ],
    ['a second audience', 'wrong_audience', () => sign(rsa, claims({ aud: [AUDIENCE, 'https://other.example.com'] }))],
    [
      'a second audience at the issuer',
      'wrong_audience',
      () => sign(rsa, claims({ aud: [AUDIENCE, `${issuer.origin}/other`] })),
    ],
    ['an expired token', 'expired', () => sign(rsa, claims({ exp: NOW - 31 }))],
    ['a token without an end', 'invalid_claims', () => sign(rsa, claims({ exp: undefined }))],
    ['an end that is a text', 'invalid_claims', () => sign(rsa, claims({ exp: '9999999999' }))],
    ['a token that is not valid yet', 'not_yet_valid', () => sign(rsa, claims({ nbf: NOW + 31 }))],
    ['an empty owner', 'no_caller', () => sign(rsa, claims({ sub: '' }))],
    ['an owner that is not a text', 'no_caller', () => sign(rsa, claims({ sub: 7 }))],
    ['claims that are not JSON', 'invalid_claims', notClaims],
    ['two parts', 'not_a_jwt', () => 'eyJhbGciOiJSUzI1NiJ9.e30'],
    ['a header that is not JSON', 'not_a_jwt', () => 'AAAA.e30.AAAA'],
  ];
  const critical = () => sign(rsa, claims(), { crit: ['urn:example'], 'urn:example': true });

  test.each(ATTACKS)('%s', async (_, problem, forge) => {
    expect(await outcomeOf(await forge())).toBe(problem);
    expect(issuer.seen).not.toContain('/evil');
  });

  test('nothing is requested for what cannot be a token', async () => {
    for (const [, problem, forge] of ATTACKS) {
      if (/not_a_jwt|unsupported_algorithm/.test(problem)) await outcomeOf(await forge());
    }
    expect(issuer.seen).toEqual([]);
  });

  test('any text is rejected, and none ends in an exception', async () => {
    const verifier = newVerifier();
    const json = fc.oneof(fc.json(), fc.constantFrom('{"alg":"RS256","kid":"rsa"}', '{"alg":["RS256"]}', 'null'));
    const part = fc.oneof(
      json.map((text) => Buffer.from(text).toString('base64url')),
      fc.string(),
    );
    const token = fc.oneof(
      fc.string(),
      fc.tuple(part, part, part).map((parts) => parts.join('.')),
    );
    await fc.assert(
      fc.asyncProperty(token, async (text) => {
        expect((await verifier.verify(text)).isErr()).toBe(true);
      }),
      { numRuns: runs(300) },
    );
  });

  test('a weak key of the issuer does not verify', async () => {
    const { jwk } = rsa;
    publish({ jwk: { ...jwk, n: Buffer.alloc(64, 0xff).toString('base64url') } });
    expect(await outcomeOf(await sign(rsa, claims()))).toBe('wrong_signature');
  });

  test('a published shared secret is not used', async () => {
    publish({ jwk: { kty: 'oct', k: 'c2VjcmV0', kid: 'rsa', alg: 'RS256' } });
    expect(await outcomeOf(await sign(rsa, claims()))).toBe('unknown_key');
  });
});

describe('scopes', () => {
  test.each([
    [['ask'], { scope: 'read ask' }, 'oauth:alice'],
    [['ask', 'read'], { scope: 'read ask' }, 'oauth:alice'],
    [['ask', 'write'], { scope: 'read ask' }, 'insufficient_scope'],
    [['ask'], { scope: 'asks task ASK' }, 'insufficient_scope'],
    [['ask'], {}, 'insufficient_scope'],
    [['ask'], { scp: 'read ask' }, 'oauth:alice'],
    [['ask'], { scp: ['read', 'ask'] }, 'oauth:alice'],
    // Entra ID.
    [['api://mcp/ask'], { scp: 'read ask' }, 'oauth:alice'],
    [['api://mcp/ask'], { scope: 'ask' }, 'insufficient_scope'],
    [['mcp/ask'], { scp: 'ask' }, 'insufficient_scope'],
    [['api://mcp/'], { scp: '' }, 'insufficient_scope'],
  ])('%j of %j: %s', async (scopes, granted, outcome) => {
    expect(await outcomeOf(await sign(rsa, claims(granted)), { scopes })).toBe(outcome);
  });
});

describe('the caller', () => {
  test.each([
    ['auth0|5f7c', 'oauth:auth0|5f7c'],
    ['https://client.example/id', 'oauth:https://client.example/id'],
    ['a@b.example', 'oauth:a@b.example'],
  ])('%j is %j', async (sub, caller) => {
    expect(await outcomeOf(await sign(rsa, claims({ sub })))).toBe(caller);
  });

  test.each(['Ålice', 'two words', 'x'.repeat(101), `#${'0'.repeat(64)}`])(
    '%j is replaced by its hash',
    async (sub) => {
      const caller = await outcomeOf(await sign(rsa, claims({ sub })));
      expect(caller).toMatch(/^oauth:#[\da-f]{64}$/);
      expect(caller).not.toContain(sub);
    },
  );

  test('comes from the configured claim', async () => {
    const token = await sign(rsa, claims({ email: 'a@b.example' }));
    expect(await outcomeOf(token, { callerClaim: 'email' })).toBe('oauth:a@b.example');
    expect(await outcomeOf(token, { callerClaim: 'name' })).toBe('no_caller');
    expect(await outcomeOf(token, { callerClaim: 'constructor' })).toBe('no_caller');
  });
});

describeTokenVerifier('JwtTokenVerifier', async (isIssuerDown) => {
  if (isIssuerDown) issuer.answers.set('/keys', { status: 500 });
  const granted = (sub: string) => sign(rsa, claims({ sub, scope: 'ask' }));
  return {
    verifier: newVerifier({ scopes: ['ask'] }),
    valid: [await granted('alice'), await granted('bob')],
    invalid: await sign(stranger, claims()),
    withoutScope: await sign(rsa, claims()),
  };
});

describeTokenVerifier('FakeTokenVerifier', async (isIssuerDown) => {
  const alice = isIssuerDown ? { kind: 'issuer_unavailable' as const, retryAfterMs: 1000 } : { caller: 'oauth:alice' };
  const known = { alice, bob: { caller: 'oauth:bob' }, guest: { kind: 'insufficient_scope' as const } };
  const verifier = new FakeTokenVerifier(known, !isIssuerDown);
  return { verifier, valid: ['alice', 'bob'], invalid: 'stranger', withoutScope: 'guest' };
});

describe('the groups of a caller', () => {
  test.each<[string | undefined, Readonly<Record<string, unknown>>, readonly string[]]>([
    [undefined, { groups: ['dev'] }, []],
    ['groups', { groups: ['dev', 'ops'] }, ['dev', 'ops']],
    ['groups', { groups: 'dev ops' }, ['dev ops']],
    ['groups', { groups: ['dev', 1] }, []],
    ['groups', {}, []],
    ['realm_access.roles', { realm_access: { roles: ['dev'] } }, ['dev']],
    ['realm_access.roles', { realm_access: { roles: ['dev'] }, 'realm_access.roles': ['exact'] }, ['exact']],
    ['realm_access.roles', { realm_access: { roles: ['dev'] }, 'realm_access.roles': null }, []],
    ['constructor.name', {}, []],
  ])('are those of the claim %s: %j', async (groupsClaim, changes, groups) => {
    const token = await sign(rsa, claims(changes));
    expect((await newVerifier({ groupsClaim }).verify(token))._unsafeUnwrap()).toEqual({
      caller: 'oauth:alice',
      groups,
      subject: { issuer: issuer.origin, sub: 'alice' },
    });
  });
});
