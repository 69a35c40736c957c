import { describe, expect, test } from 'vitest';
import { discover } from '../../src/adapters/outbound/login/discovery.ts';
import { LoginFailure } from '../../src/adapters/outbound/login/oauth-request.ts';
import { never } from '../../src/application/async/deadline.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

type Auth = Parameters<typeof discover>[0]['auth'];

async function start(options: { readonly auth?: Partial<NonNullable<Auth>>; readonly path?: string } = {}) {
  const issuer = await FakeIssuer.start();
  const { path = '/mcp' } = options;
  const auth = options.auth && ({ grant: 'authorization_code', ...options.auth } as const);
  const clock = new FakeClock();
  const server = { name: 'notes', url: `${issuer.origin}${path}`, headers: { 'X-Own': 'header' }, auth };
  const find = () => discover(server, { fetch, clock }, never());
  const failure = async () => {
    const error = await find().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(LoginFailure);
    return (error as Error).message.replaceAll(issuer.origin, '');
  };
  return { issuer, clock, server, find, failure };
}

const challenge = (header: string) => ({ status: 401, headers: { 'WWW-Authenticate': header } });

describe('the issuer is found', () => {
  test('from the server alone', async () => {
    const { issuer, find } = await start();
    expect(await find()).toMatchObject({
      metadata: { issuer: issuer.origin, token_endpoint: `${issuer.origin}/token` },
      resource: `${issuer.origin}/mcp`,
      scopes: ['read'],
    });
    expect(issuer.seen).toEqual(['/mcp', `${RESOURCE}/mcp`, OAUTH]);
  });

  test.each([
    ['after the path', (origin: string) => `Bearer resource_metadata="${origin}/elsewhere"`],
    [
      'of another scheme before',
      (origin: string) => `Basic realm="a, b", Bearer resource_metadata=${origin}/elsewhere`,
    ],
    ['in any order', (origin: string) => `bearer error="x", scope="a b", resource_metadata="${origin}/elsewhere"`],
  ])('at the place that the challenge names: %s', async (_, header) => {
    const { issuer, server, find } = await start();
    issuer.answers.set('/mcp', challenge(header(issuer.origin)));
    issuer.answers.set('/elsewhere', { body: { resource: server.url, authorization_servers: [issuer.origin] } });
    await find();
    expect(issuer.seen).toEqual(['/mcp', '/elsewhere', OAUTH]);
  });

  test('at the next place, if a document is missing', async () => {
    const { issuer, find } = await start();
    issuer.answers.set(OPENID, { body: await metadataOf(issuer) });
    issuer.answers.set(`${RESOURCE}/mcp`, { status: 404 });
    issuer.answers.set(OAUTH, { body: 'no JSON' });
    issuer.resource = { resource: `${issuer.origin}/` };
    await find();
    expect(issuer.seen).toEqual(['/mcp', `${RESOURCE}/mcp`, RESOURCE, OAUTH, OPENID]);
  });

  test('at the well-known place, if the document of the challenge is missing', async () => {
    const { issuer, find } = await start();
    issuer.answers.set('/mcp', challenge(`Bearer resource_metadata="${issuer.origin}/none"`));
    expect((await find()).scopes).toEqual(['read']);
    expect(issuer.seen).toEqual(['/mcp', '/none', `${RESOURCE}/mcp`, OAUTH]);
  });

  test('with the path inserted, and then appended', async () => {
    const { issuer, find } = await start();
    issuer.resource = { authorization_servers: [`${issuer.origin}/tenant/`] };
    const body = { ...(await metadataOf(issuer)), issuer: `${issuer.origin}/tenant` };
    issuer.seen.length = 0;
    issuer.answers.set(`/tenant${OPENID}`, { body });
    await find();
    expect(issuer.seen.slice(2)).toEqual([`${OAUTH}/tenant`, `${OPENID}/tenant`, `/tenant${OPENID}`]);
  });

  test('at the origin of a server without metadata', async () => {
    const { issuer, find, server } = await start();
    issuer.answers.set(`${RESOURCE}/mcp`, { status: 404 }).set(RESOURCE, { status: 404 });
    expect(await find()).toMatchObject({ metadata: { issuer: issuer.origin }, resource: server.url, scopes: [] });
  });

  test('as it is configured, if the server names it', async () => {
    const { issuer, find, server } = await start({ auth: {} });
    const named = { ...server, auth: { grant: 'authorization_code' as const, issuer: issuer.origin } };
    issuer.resource = { authorization_servers: ['https://other.example.com', issuer.origin] };
    const network = { fetch, clock: new FakeClock() };
    expect(await discover(named, network, never())).toMatchObject({ metadata: { issuer: issuer.origin } });
    await expect(find()).rejects.toThrow('other.example.com');
  });

  test('with the configured headers for the server only', async () => {
    const { issuer, find } = await start();
    await find();
    expect(issuer.headers.map((headers) => headers['x-own'])).toEqual(['header', undefined, undefined]);
  });
});

async function metadataOf(issuer: FakeIssuer) {
  const document = (await (await fetch(`${issuer.origin}${OAUTH}`)).json()) as Record<string, unknown>;
  issuer.seen.length = 0;
  return document;
}

describe('scopes', () => {
  test.each([
    ['configured', { scopes: ['own'] }, 'Bearer scope="challenge"', ['own']],
    ['of the challenge', {}, 'Bearer scope="challenge other"', ['challenge', 'other', 'offline_access']],
    ['of the metadata', {}, 'Bearer', ['read', 'offline_access']],
  ])('%s', async (_, auth, header, scopes) => {
    const { issuer, find } = await start({ auth });
    issuer.answers.set('/mcp', challenge(header));
    issuer.metadata = { scopes_supported: ['offline_access', 'read'] };
    expect((await find()).scopes).toEqual(scopes);
  });
});

describe('the resource', () => {
  test.each([
    ['/mcp/v1', '/mcp', true],
    ['/mcp/v1', '/', true],
    ['/mcp', '/mcp', true],
    ['/mcp', '/mcp/v1', false],
    ['/mcp2', '/mcp', false],
    ['/mcp', '/other', false],
  ])('of a server at %s may be %s: %s', async (path, resource, isRight) => {
    const { issuer, find, failure } = await start({ path });
    issuer.resource = { resource: `${issuer.origin}${resource}` };
    if (isRight) expect((await find()).resource).toBe(`${issuer.origin}${resource}`);
    else expect(await failure()).toContain(`${RESOURCE}${path} is for the resource "${resource}"`);
  });

  test.each([
    ['none', undefined],
    ['urn:other', 'urn:other'],
  ])('is %s if that is configured, whatever the metadata say', async (configured, resource) => {
    const { issuer, find } = await start({ auth: { resource: configured } });
    issuer.resource = { resource: 'https://other.example.com/' };
    expect((await find()).resource).toBe(resource);
  });
});

describe('a login fails, and nothing is sent there,', () => {
  test.each<[string, (issuer: FakeIssuer) => void, string]>([
    [
      'if a server is for another resource',
      (i) => (i.resource = { resource: 'https://other.example.com/mcp' }),
      'other.example.com',
    ],
    ['without an issuer', (i) => (i.resource = { authorization_servers: [] }), 'names none as issuers'],
    [
      'if the issuer is not https',
      (i) => (i.resource = { authorization_servers: ['http://other.example.com'] }),
      'http://other.example.com',
    ],
    [
      'if the challenge names an http:// URL',
      (i) => i.answers.set('/mcp', challenge('Bearer resource_metadata="http://other.example.com/"')),
      'http://other.example.com',
    ],
    [
      'if the metadata are of another issuer',
      (i) => (i.metadata = { issuer: 'https://other.example.com' }),
      `${OAUTH} names the issuer "https://other.example.com"`,
    ],
    ['without S256', (i) => (i.metadata = { code_challenge_methods_supported: ['plain'] }), 'S256'],
    [
      'if it is not said that there is S256',
      (i) => (i.metadata = { code_challenge_methods_supported: undefined }),
      'S256',
    ],
    ['without a token endpoint', (i) => (i.metadata = { token_endpoint: undefined }), 'has no token_endpoint'],
    [
      'if an endpoint is not https',
      (i) => (i.metadata = { registration_endpoint: 'http://other.example.com/' }),
      'registration_endpoint',
    ],
    ['if an endpoint is no text', (i) => (i.metadata = { authorization_endpoint: { a: 1 } }), 'authorization_endpoint'],
    [
      'if a document is too large',
      (i) => i.answers.set(OAUTH, { body: { issuer: 'x'.repeat(300_000) } }),
      'more than 262144 bytes',
    ],
    [
      'if all documents redirect',
      (i) => i.answers.set(OAUTH, { status: 302, location: '/elsewhere' }),
      'has the status 302',
    ],
  ])('%s', async (_, change, message) => {
    const { issuer, failure } = await start();
    change(issuer);
    expect(await failure()).toContain(message);
    expect(issuer.seen).not.toContain('/elsewhere');
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('if there is no answer in time', async () => {
    const { issuer, clock, failure } = await start();
    for (const path of [OAUTH, OPENID]) issuer.answers.set(path, 'hangs');
    const failed = failure();
    for (const path of [OAUTH, OPENID]) {
      await expect.poll(() => issuer.seen).toContain(path);
      await clock.advance(10_000);
    }
    expect(await failed).toContain(`${OAUTH}: no response in time; ${OPENID}: no response in time`);
  });

  test('if the server does not answer', async () => {
    const { issuer, clock, failure } = await start();
    issuer.answers.set('/mcp', 'hangs');
    const failed = failure();
    await expect.poll(() => issuer.seen).toContain('/mcp');
    await clock.advance(10_000);
    expect(await failed).toBe('/mcp: no response in time');
  });
});

test('a machine asks for no access while a person is offline', async () => {
  const { issuer, find } = await start({
    auth: { grant: 'client_credentials', clientId: 'me', clientSecret: 'secret' },
  });
  issuer.metadata = { scopes_supported: ['offline_access', 'read'] };
  expect((await find()).scopes).toEqual(['read']);
});

test('a machine needs neither S256 nor an authorization endpoint', async () => {
  const { issuer, find } = await start({
    auth: { grant: 'client_credentials', clientId: 'me', clientSecret: 'secret' },
  });
  issuer.metadata = { code_challenge_methods_supported: undefined, authorization_endpoint: undefined };
  expect((await find()).metadata.token_endpoint).toBe(`${issuer.origin}/token`);
});
