import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { IssuerSignIn } from '../../src/adapters/outbound/login/issuer-sign-in.ts';
import { MAX_PENDING, PendingFiles } from '../../src/adapters/outbound/login/pending-files.ts';
import { verifyIdToken } from '../../src/adapters/outbound/oauth/id-token-verifier.ts';
import { IssuerKeys, readKeySet } from '../../src/adapters/outbound/oauth/issuer-keys.ts';
import { never } from '../../src/application/async/deadline.ts';
import type { Clock } from '../../src/application/ports/services.ts';
import { newFolder } from '../e2e/files.ts';
import { newKey, startAuthorizationServer, visit } from '../support/authorization-server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { FakePersonSignIn } from '../support/fake-person-sign-in.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { beginPerson, describePersonSignIn, PERSON_CALLBACK } from './describe-person-sign-in.ts';
import { newSigningKey, type SigningKey, sign } from './signing-keys.ts';

interface Client {
  readonly issuer: string;
  readonly clientId: string;
  readonly secret?: string;
  readonly clock: Clock;
  readonly callerClaim?: string;
  readonly scopes?: readonly string[];
}

function signInAt({ issuer, clientId, secret, clock, callerClaim = 'sub', scopes = [] }: Client) {
  const folder = join(newFolder(), 'logins');
  const read = (signal: AbortSignal) => readKeySet({ issuer, jwksUri: undefined, fetch }, signal);
  const keys = new IssuerKeys({ issuer, clock, logger: new RecordingLogger(), read });
  const people = new IssuerSignIn({
    issuer,
    clientId,
    clientSecret: async () => secret,
    scopes,
    pending: new PendingFiles(folder, clock, undefined, 'person'),
    proofs: new PendingFiles(folder, clock, undefined, 'proof'),
    fetch,
    clock,
    learn: () => {},
    verify: (token, nonce) => verifyIdToken(token, nonce, { issuer, clientId, callerClaim, keys, clock }),
  });
  return { people, folder };
}

/** A real issuer, and the client that it has registered. */
async function startReal(method: string) {
  const { issuer } = await startAuthorizationServer({ keys: [await newKey('k')], scope: 'ask' });
  const body = { redirect_uris: [PERSON_CALLBACK], token_endpoint_auth_method: method };
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(`${issuer}/reg`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { client_id: clientId, client_secret: secret } = (await response.json()) as Record<string, string>;
  const clock = new FakeClock(new Date().toISOString());
  const { people } = signInAt({ issuer, clientId: String(clientId), clock, ...(secret && { secret }) });
  return { people, issuer, agree: (url: string) => visit(new URL(url), PERSON_CALLBACK) };
}

describePersonSignIn('IssuerSignIn with a secret', () => startReal('client_secret_basic'));
describePersonSignIn('IssuerSignIn as a public client', () => startReal('none'));
describePersonSignIn('FakePersonSignIn', async () => {
  const people = new FakePersonSignIn();
  const agree = async (url: string) =>
    new URLSearchParams({ state: new URL(url).searchParams.get('state') ?? '', code: '1' });
  return { people, issuer: people.issuer, agree };
});

describe('an ID token', () => {
  let key: SigningKey;
  let stranger: SigningKey;

  beforeAll(async () => {
    key = await newSigningKey('RS256', 'k');
    stranger = await newSigningKey('RS256', 'k');
  });

  /** Signs in at an issuer that sends an ID token with other claims than usual. */
  async function outcomeOf(
    claims: Readonly<Record<string, unknown>>,
    { header = {}, by = key, ...client }: Partial<Client> & { header?: object; by?: SigningKey } = {},
  ) {
    const issuer = await FakeIssuer.start();
    issuer.metadata = { jwks_uri: `${issuer.origin}/keys`, scopes_supported: ['openid', 'email'] };
    issuer.answers.set('/keys', { body: { keys: [key.jwk] } });
    const clock = new FakeClock('2026-01-05T03:00:00Z');
    const { people, folder } = signInAt({ issuer: issuer.origin, clientId: 'web', clock, ...client });
    const agree = async (url: string) => new URL(issuer.callbackFor(url)).searchParams;
    const begun = await beginPerson({ people, issuer: issuer.origin, agree });
    const asked = new URL(begun.begun.url).searchParams;
    const iat = clock.now().getTime() / 1000;
    const usual = { iss: issuer.origin, aud: 'web', sub: 'alice', nonce: asked.get('nonce'), iat, exp: iat + 300 };
    issuer.tokens = { id_token: await sign(by, { ...usual, ...claims }, { typ: 'JWT', ...header }) };
    const outcome = await people.finish(begun.parameters, begun.secretOf, never());
    const shown = outcome.isOk() ? outcome.value.person.caller : outcome.error;
    return { shown, asked, issuer, left: readdirSync(folder) };
  }

  test('of this sign-in names the caller, and is asked for with PKCE and a nonce', async () => {
    const { shown, asked, issuer, left } = await outcomeOf({});
    expect(shown).toBe('oauth:alice');
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      client_id: 'web',
      redirect_uri: PERSON_CALLBACK,
      scope: 'openid',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(issuer.tokenRequests.map(({ parameters }) => parameters)).toMatchObject([
      { grant_type: 'authorization_code', code_verifier: expect.any(String), redirect_uri: PERSON_CALLBACK },
    ]);
    expect(left).toEqual([]);
  });

  test.each([
    ['another nonce', { nonce: 'n' }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'other' }],
    ['one more audience', { aud: ['web', 'other'] }],
    ['another client that asked for it', { azp: 'other' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['no end', { exp: undefined }],
    ['an end in the past', { exp: 1 }],
    ['another kind', { typ: 'Refresh' }],
  ])('with %s is not used', async (_, claims) => {
    const { shown } = await outcomeOf(claims);
    expect(shown).toMatchObject({ kind: 'failed', reason: expect.stringContaining('the ID token') });
  });

  test('that is an access token, or that another key has signed, is not used', async () => {
    for (const options of [{ header: { typ: 'at+jwt' } }, { by: stranger }])
      expect((await outcomeOf({}, options)).shown).toMatchObject({ kind: 'failed' });
  });

  test('names the caller by its claim, for which the issuer is asked', async () => {
    const named = { callerClaim: 'email', scopes: ['profile', 'email'] };
    const { shown, asked } = await outcomeOf({ email: 'alice@example.com' }, named);
    expect(shown).toBe('oauth:alice@example.com');
    expect(asked.get('scope')).toBe('openid email');
    expect((await outcomeOf({}, named)).shown).toMatchObject({ kind: 'failed' });
  });
});

test('a response that names another issuer is not used', async () => {
  const issuer = await FakeIssuer.start();
  const clock = new FakeClock('2026-01-05T03:00:00Z');
  const { people } = signInAt({ issuer: issuer.origin, clientId: 'web', clock });
  const agree = async (url: string) => new URL(issuer.callbackFor(url, { iss: 'https://evil.example' })).searchParams;
  const { parameters, secretOf } = await beginPerson({ people, issuer: issuer.origin, agree });
  const problem = (await people.finish(parameters, secretOf, never()))._unsafeUnwrapErr();
  expect(problem).toMatchObject({ kind: 'failed', reason: expect.stringContaining('not from') });
  expect(issuer.tokenRequests).toEqual([]);
});

// S88
test('strangers who begin sign-ins without end fill no folder, and take nothing from people who have proved who they are', async () => {
  const folder = newFolder();
  const clock = new SystemClock();
  const [people, proofs] = (['person', 'proof'] as const).map(
    (kind) => new PendingFiles(folder, clock, undefined, kind),
  );
  if (people === undefined || proofs === undefined) throw new Error('there are no files');
  const proof = proofs.begin();
  await proofs.keep(proof, { kind: 'proof' });
  const aged = new Date(Date.now() - 60_000);
  for (let count = 0; count < MAX_PENDING + 5; count += 1) {
    const path = join(folder, `${count}.person.pending`);
    writeFileSync(path, '{}');
    utimesSync(path, aged, aged);
  }
  const latest = people.begin();
  await people.keep(latest, { kind: 'person' });
  expect(readdirSync(folder).filter((name) => name.endsWith('.person.pending'))).toHaveLength(MAX_PENDING);
  expect(await people.take(latest.state, () => latest.secret)).toEqual({ kind: 'person' });
  expect(await proofs.take(proof.state, () => proof.secret)).toEqual({ kind: 'proof' });
});
