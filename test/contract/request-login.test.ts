import { describe, expect, test } from 'vitest';
import { isDue, type LoginServer, toSummary, usableToken } from '../../src/adapters/outbound/login/login.ts';
import { LoginFailure } from '../../src/adapters/outbound/login/oauth-fetch.ts';
import { requestLogin } from '../../src/adapters/outbound/login/request-login.ts';
import { never } from '../../src/application/async/deadline.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer, issuerMetadata, loginAt } from '../support/fake-issuer.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';

type Auth = NonNullable<LoginServer['auth']>;

/** A person who agrees to everything; `callback` are parameters with which the browser returns. */
async function start(auth: Partial<Auth> = {}, path = '/mcp') {
  const issuer = await FakeIssuer.start();
  const clock = new FakeClock();
  const url = `${issuer.origin}${path}`;
  const server: LoginServer = {
    name: 'notes',
    url,
    headers: { 'X-Own': 'header' },
    auth: { grant: 'authorization_code', ...auth },
  };
  const callback: Record<string, string> = {};
  const learned: string[] = [];
  let page = '';
  const agree = async (url: string) => {
    page = url;
    return new URL(issuer.callbackFor(url, callback)).searchParams;
  };
  const person = { redirectUrl: 'http://127.0.0.1:3918/callback', state: 'state', agree };
  const signIn = async () => {
    const learn = (secrets: readonly string[]) => learned.push(...secrets);
    const login = await requestLogin(server, { fetch, clock, learn }, person, never());
    return { login, asked: Object.fromEntries(new URL(page).searchParams) };
  };
  const failure = async () => {
    const error: unknown = await signIn().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LoginFailure);
    return (error as Error).message.replaceAll(issuer.origin, '');
  };
  return { issuer, clock, callback, learned, signIn, failure };
}

const challenge = (header: string) => ({ status: 401, headers: { 'WWW-Authenticate': header } });

test('a person signs in from the URL of the server alone, which gets the configured headers', async () => {
  const { issuer, clock, learned, signIn } = await start();
  const { origin } = issuer;
  const { login, asked } = await signIn();
  expect(asked).toMatchObject({
    response_type: 'code',
    client_id: 'client-1',
    code_challenge_method: 'S256',
    state: 'state',
    scope: 'read',
    resource: `${origin}/mcp`,
    redirect_uri: 'http://127.0.0.1:3918/callback',
  });
  expect(issuer.seen).toEqual(['/mcp', `${RESOURCE}/mcp`, OAUTH, '/registration', '/token']);
  expect(issuer.headers.map((headers) => headers['x-own'])).toEqual(['header', ...Array(4).fill(undefined)]);
  expect(issuer.registrations).toMatchObject([{ application_type: 'native', token_endpoint_auth_method: 'none' }]);
  const { parameters: { code_verifier = '', ...parameters } = {} } = issuer.tokenRequests[0] ?? {};
  expect(parameters).toMatchObject({ code: 'code-1', client_id: 'client-1', resource: `${origin}/mcp` });
  expect(learned).toEqual(['code-1', code_verifier]);
  expect(login).toMatchObject({
    metadata: issuerMetadata(origin),
    client: { client_id: 'client-1' },
    resource: `${origin}/mcp`,
    tokens: { access_token: 'access-1', refresh_token: 'refresh-1', expires_in: 3600, scope: 'read' },
    receivedAt: clock.now().getTime(),
  });
});

describe('the time until a token expires is read in every form', () => {
  test.each([
    ['3600', 3600],
    [' 60 ', 60],
    [59.5, 59.5],
    [1e300, undefined],
    ['1e300', undefined],
    [Number.MAX_SAFE_INTEGER, undefined],
    [-1, undefined],
    [0, undefined],
    ['NaN', undefined],
    ['never', undefined],
    ['', undefined],
    [null, undefined],
    [true, undefined],
    [[3600], undefined],
    [{ seconds: 1 }, undefined],
  ])('%j', async (expiresIn, seconds) => {
    const { issuer, clock, signIn } = await start();
    issuer.tokens = { expires_in: expiresIn };
    const { login } = await signIn();
    expect(login.tokens.expires_in).toBe(seconds);
    const { expiresAt } = toSummary({ name: 'notes', url: `${issuer.origin}/mcp`, headers: {} }, login, false);
    expect(expiresAt).toEqual(seconds && new Date(clock.now().getTime() + seconds * 1000));
  });

  test.each([1e300, 'soon', Number.NaN])('in a stored login: %j', async (expiresIn) => {
    const stored = loginAt('https://auth.example.com', { expires_in: expiresIn as number });
    expect(toSummary({ name: 'a', url: 'https://a.example', headers: {} }, stored, false).expiresAt).toBeUndefined();
    expect(isDue(stored, new FakeClock())).toBe(false);
    expect(usableToken(stored, undefined, new FakeClock())).toBe(stored.tokens.access_token);
  });

  test('a registration with odd times', async () => {
    const { issuer, signIn } = await start();
    const odd = { client_id_issued_at: 'today', client_secret_expires_at: -1, client_secret: 'secret-of-client' };
    issuer.answers.set('/registration', { status: 201, body: { client_id: 'a', redirect_uris: [], ...odd } });
    expect((await signIn()).login.client).toMatchObject({ client_id: 'a', client_secret: 'secret-of-client' });
  });
});

test('a text in place of a list, and a number in place of a text, are read', async () => {
  const { issuer, signIn } = await start();
  issuer.metadata = { response_types_supported: undefined, code_challenge_methods_supported: 'S256' };
  issuer.resource = { authorization_servers: issuer.origin, scopes_supported: 'read write' };
  issuer.answers.set('/registration', { status: 201, body: { client_id: 4711, redirect_uris: 'http://127.0.0.1/' } });
  const { login, asked } = await signIn();
  expect(login.client).toMatchObject({ client_id: '4711', redirect_uris: ['http://127.0.0.1/'] });
  expect(asked.scope).toBe('read write');
});

describe('the resource is that of the server', () => {
  test.each([
    ['', '/mcp'],
    ['/', '/mcp'],
    ['/a', '/a/mcp'],
    ['/a/', '/a/b/mcp'],
    ['/mcp/', '/mcp'],
  ])('if its path %j is the beginning of %j', async (resource, path) => {
    const { issuer, signIn } = await start({}, path);
    const body = { resource: `${issuer.origin}${resource}`, authorization_servers: [issuer.origin] };
    issuer.answers.set(`${RESOURCE}${path}`, { body });
    const { login, asked } = await signIn();
    expect(new URL(login.resource ?? '').href).toBe(new URL(body.resource).href);
    expect(asked.resource).toBe(login.resource);
  });

  test.each(['/mc', '/mcp/other', '/other'])('but not if its path is %j', async (resource) => {
    const { issuer, failure } = await start();
    issuer.resource = { resource: `${issuer.origin}${resource}` };
    expect(await failure()).toContain(`the metadata of /mcp are for ${resource}`);
  });
});

test.each([
  ['the server', true, false],
  ['the issuer', false, true],
  ['both', true, true],
])('a lone slash at the end of an issuer is no difference (%s)', async (_, ofServer, ofIssuer) => {
  const { issuer, callback, signIn } = await start();
  const slash = (isThere: boolean) => `${issuer.origin}${isThere ? '/' : ''}`;
  issuer.resource = { authorization_servers: [slash(ofServer)] };
  issuer.metadata = { issuer: slash(ofIssuer) };
  callback.iss = slash(ofIssuer);
  expect((await signIn()).login.tokens.access_token).toBe('access-1');
});

describe('the issuer is found', () => {
  test('at the place that the challenge names', async () => {
    const { issuer, signIn } = await start();
    const body = { resource: `${issuer.origin}/mcp`, authorization_servers: [issuer.origin] };
    issuer.answers.set('/elsewhere', { body });
    issuer.answers.set('/mcp', challenge(`Bearer error="x", resource_metadata="${issuer.origin}/elsewhere"`));
    await signIn();
    expect(issuer.seen.slice(0, 3)).toEqual(['/mcp', '/elsewhere', OAUTH]);
  });

  test('at the next place, if one has no document', async () => {
    const { issuer, signIn } = await start();
    const openId = { jwks_uri: `${issuer.origin}/jwks`, subject_types_supported: ['public'] };
    const body = { ...issuerMetadata(issuer.origin), ...openId, id_token_signing_alg_values_supported: ['RS256'] };
    issuer.answers.set(OPENID, { body }).set(OAUTH, { body: '<html>' }).set(`${RESOURCE}/mcp`, { status: 404 });
    issuer.answers.set(RESOURCE, { status: 302, location: '/elsewhere' });
    expect((await signIn()).login.metadata.issuer).toBe(issuer.origin);
    expect(issuer.seen).not.toContain('/elsewhere');
  });

  test('as it is configured', async () => {
    const other = await FakeIssuer.start();
    const { issuer, signIn, callback } = await start({ issuer: other.origin });
    callback.iss = other.origin;
    expect((await signIn()).login.metadata.issuer).toBe(other.origin);
    expect(issuer.tokenRequests).toEqual([]);
  });
});

test.each([
  ['the configured ones, and no others', { scopes: ['own'] }, 'Bearer scope="challenge"', 'own'],
  ['those of the challenge', {}, 'Bearer scope="challenge other"', 'challenge other offline_access'],
  ['those of the challenge by a token', {}, 'Basic realm="a, b", Bearer scope=mine', 'mine offline_access'],
  ['those of the metadata', {}, 'Bearer', 'read offline_access'],
])('the scopes are %s', async (_, auth, header, scope) => {
  const { issuer, signIn } = await start(auth);
  issuer.answers.set('/mcp', challenge(header));
  issuer.metadata = { scopes_supported: ['offline_access', 'read'] };
  const { login, asked } = await signIn();
  expect([asked.scope, login.tokens.scope]).toEqual([scope, scope]);
});

test.each([
  ['none', undefined],
  ['urn:other', 'urn:other'],
])('the resource is %s if that is configured, whatever the metadata say', async (configured, resource) => {
  const { issuer, signIn } = await start({ resource: configured });
  issuer.resource = { resource: `${issuer.origin}/` };
  const { login, asked } = await signIn();
  expect([asked.resource, login.resource]).toEqual([resource, resource]);
});

const SECRET = { clientId: 'mine', clientSecret: 'tHe-SeCrEt' };

test.each<[string, Partial<Auth>, Record<string, unknown>, string]>([
  ['the configured one, whose secret is not stored', SECRET, {}, 'mine'],
  [
    'a document, if the issuer accepts one',
    { clientMetadataUrl: 'https://example.com/client' },
    { client_id_metadata_document_supported: true },
    'https://example.com/client',
  ],
  ['a registered one otherwise', { clientMetadataUrl: 'https://example.com/client' }, {}, 'client-1'],
])('the client is %s', async (_, auth, metadata, id) => {
  const { issuer, signIn } = await start(auth);
  issuer.metadata = metadata;
  const { login, asked } = await signIn();
  expect([asked.client_id, login.client.client_id, login.client.client_secret]).toEqual([id, id, undefined]);
  const basic = `Basic ${Buffer.from('mine:tHe-SeCrEt').toString('base64')}`;
  expect(issuer.tokenRequests).toMatchObject([{ authorization: auth === SECRET ? basic : undefined }]);
});

test.each<[string, (issuer: FakeIssuer) => void, string]>([
  [
    'the metadata are for another resource',
    (i) => (i.resource = { resource: `${i.origin}/other` }),
    'the metadata of /mcp are for /other; if that is right, set auth.resource in the YAML file',
  ],
  [
    'the issuer is not https',
    (i) => (i.resource = { authorization_servers: ['http://other.example.com'] }),
    'http://other.example.com/.well-known/oauth-authorization-server is not an https:// URL',
  ],
  [
    'the challenge names metadata at another origin',
    (i) => i.answers.set('/mcp', challenge('Bearer resource_metadata="https://other.example.com/"')),
    'the metadata of /mcp are at another host: https://other.example.com/',
  ],
  ['the metadata name another issuer', (i) => (i.metadata = { issuer: 'https://other.example.com' }), 'mismatch'],
  ['there is no S256', (i) => (i.metadata = { code_challenge_methods_supported: ['plain'] }), 'do not have S256'],
  [
    'nothing says that there is S256',
    (i) => (i.metadata = { code_challenge_methods_supported: undefined }),
    'do not have S256 in code_challenge_methods_supported',
  ],
  [
    'a member is missing that RFC 8414 requires',
    (i) => (i.metadata = { token_endpoint: undefined }),
    'does not conform to its standard; missing, or of another form: token_endpoint',
  ],
  [
    'an endpoint is not https',
    (i) => (i.metadata = { token_endpoint: 'http://other.example.com/' }),
    'http://other.example.com/ is not an https:// URL',
  ],
  [
    'nothing registers a client',
    (i) => (i.metadata = { registration_endpoint: undefined }),
    ' registers no clients; register one by hand and set auth.client_id in the YAML file',
  ],
  [
    'its metadata redirect',
    (i) => i.answers.set(OAUTH, { status: 302, location: '/elsewhere' }),
    ', the issuer of /mcp, has no metadata',
  ],
])('a login fails, and no client is registered, if %s', async (_, change, message) => {
  const { issuer, failure } = await start();
  change(issuer);
  expect(await failure()).toContain(message);
  for (const path of ['/elsewhere', '/registration', '/token']) expect(issuer.seen).not.toContain(path);
});

test('nothing is guessed if the configured issuer and the server have no metadata', async () => {
  const other = await FakeIssuer.start();
  const { issuer, failure } = await start({ issuer: other.origin });
  issuer.answers.set(`${RESOURCE}/mcp`, { status: 404 }).set(RESOURCE, { status: 404 });
  other.answers.set(OAUTH, { status: 404 });
  expect(await failure()).toContain('has no metadata');
  expect(other.seen).toEqual([OAUTH, OPENID]);
});

test('a server elsewhere cannot name an issuer on this machine', async () => {
  const issuer = await FakeIssuer.start();
  const server = { name: 'notes', url: 'https://notes.example.com/mcp', headers: {} };
  const document = { resource: server.url, authorization_servers: [issuer.origin] };
  const remote = async (url: string | URL | Request, init?: RequestInit) => {
    if (String(url) === server.url) return new Response(undefined, { status: 401 });
    return String(url).startsWith('https://notes') ? Response.json(document) : fetch(url, init);
  };
  const network = { fetch: remote, clock: new FakeClock(), learn: () => {} };
  await expect(requestLogin(server, network, { grant_type: 'client_credentials' }, never())).rejects.toThrow(
    'is on this machine, but https://notes.example.com/mcp is not',
  );
  expect(issuer.seen).toEqual([]);
});

test.each(['/mcp', OAUTH])('a login fails if %s does not answer within 10 s', async (path) => {
  const { issuer, clock, failure } = await start();
  issuer.answers.set(path, 'hangs');
  const failed = failure();
  await expect.poll(() => issuer.seen).toContain(path);
  await clock.advance(10_000);
  expect(await failed).toBe(`${path}: no response in time`);
});

const PROMISED = { authorization_response_iss_parameter_supported: true };

test.each<[string, Record<string, string>, object, string]>([
  ['of another issuer', { iss: 'https://evil.example.com', error: 'never-shown' }, {}, 'the response is not from '],
  ['without the issuer that is promised', { iss: '' }, PROMISED, 'the response is not from '],
  [
    'with an error',
    { code: '', error: 'access_denied', error_description: 'not\u001B[31m you\u202E' },
    {},
    ' refused the login: access_denied: not you',
  ],
  ['without a code', { code: '' }, {}, ' refused the login: it sent no code'],
])('an answer %s fails, and no code is sent', async (_, answer, metadata, message) => {
  const { issuer, callback, failure } = await start();
  issuer.metadata = { ...metadata };
  Object.assign(callback, answer);
  const reason = await failure();
  expect(reason).toContain(message);
  expect(reason).not.toContain('never-shown');
  expect(issuer.tokenRequests).toEqual([]);
});

test.each<[string, (issuer: FakeIssuer) => void]>([
  ['the metadata of the issuer lack members', (i) => i.answers.set(OAUTH, { body: { issuer: i.origin } })],
  ['members of them are of another kind', (i) => (i.metadata = { issuer: 5, token_endpoint: [], scopes_supported: 1 })],
  ['endpoints of them are no URLs', (i) => (i.metadata = { authorization_endpoint: 'there', token_endpoint: 'x' })],
  [
    'the metadata of the resource are of another kind, and name no issuer',
    (i) => {
      i.resource = { resource: 5 };
      i.answers.set(OAUTH, { status: 404 });
    },
  ],
  ['the registration is empty', (i) => i.answers.set('/registration', { status: 201, body: {} })],
  ['the registration is of another kind', (i) => i.answers.set('/registration', { body: { client_id: {} } })],
  ['there is no token', (i) => i.answers.set('/token', { body: {} })],
  ['the token is of another kind', (i) => (i.tokens = { access_token: 1, token_type: [], scope: 7 })],
  ['the token is no object', (i) => i.answers.set('/token', { body: '[1]' })],
])('a login fails in the words of this program if %s', async (_, change) => {
  const { issuer, failure } = await start();
  change(issuer);
  const reason = await failure();
  expect(reason).not.toMatch(/Invalid|expected|received|undefined|zod|\[object|[{[]/);
  expect(reason).toMatch(/; missing, or of another form: [a-z_, ]+$| has no metadata$/);
});

test('a code that is refused fails with the words of the issuer, and nothing is tried again', async () => {
  const { issuer, failure } = await start();
  issuer.answers.set('/token', { body: { error: 'invalid_grant', error_description: 'Expired\u001b[31m' } });
  expect(await failure()).toBe('/token answered invalid_grant: Expired');
  expect(issuer.seen.filter((path) => path === '/token')).toHaveLength(1);
});
