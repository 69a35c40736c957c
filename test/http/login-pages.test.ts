import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { EVERYTHING } from '../../src/domain/gateway/call-origin.ts';
import { FakeCallerLogins } from '../support/fake-caller-logins.ts';
import { FakePersonSignIn } from '../support/fake-person-sign-in.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { type Reply, send } from '../support/http-client.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

const PUBLIC = 'https://mcp.example.com';
const OWN = { Host: 'mcp.example.com', Origin: PUBLIC };
const cookiesOf = ({ headers }: Reply) => headers['set-cookie'] ?? [];
/** The cookies as a browser sends them back. */
const cookieOf = (...replies: readonly Reply[]) => ({
  Cookie: replies
    .flatMap(cookiesOf)
    .map((cookie) => cookie.slice(0, cookie.indexOf(';')))
    .join('; '),
});

/** With an issuer at which people sign in. */
async function serve(http: ServeHttpOptions['http'] = {}, servers: readonly string[] = ['tickets', 'notes']) {
  const logins = new FakeCallerLogins(servers);
  const people = new FakePersonSignIn();
  const oauth = { issuer: people.issuer, resource: `${PUBLIC}/mcp`, scopes: [], verifier: new FakeTokenVerifier({}) };
  const login = { logins, people, servers: () => servers, publicUrl: PUBLIC, folder: '/no/such/folder' };
  const served = await serveHttp({ http: { oauth, logins: login, allowedHosts: ['mcp.example.com'], ...http } });
  const get = (path: string, headers = {}) => send(served.at(path), { method: 'GET', headers });
  const post = (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = OWN) => {
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    return send(served.at(path), { headers: { ...type, ...headers }, body: new URLSearchParams(fields).toString() });
  };
  /** Signs in at the issuer of the callers, and reads what the page then says. */
  const prove = async (server = 'tickets') => {
    const sent = await post(`/login/${server}`);
    const state = new URL(String(sent.headers.location)).searchParams.get('state');
    const page = await get(`/login/caller?state=${state}&code=c`, cookieOf(sent));
    const [, proof = ''] = /name="proof" value="([^"]*)"/.exec(page.text) ?? [];
    return { sent, state, page, proof, own: { ...OWN, ...cookieOf(page) } };
  };
  return { ...served, logins, people, get, post, prove };
}

const ALICE = { kind: 'subject', issuer: 'https://auth.example.com', sub: 'alice' } as const;
const TICKETS = { server: 'tickets', owner: ALICE };

// S87
test('a person signs in from the link to the login, without a script', async () => {
  const { get, post, prove, logins } = await serve();
  const start = await get('/login/tickets');
  expect(start.text).toContain('Continue at https://auth.example.com');
  expect(start.text).not.toContain('tickets');
  expect(start.text).not.toContain('token-form');
  const { sent, page, proof, own } = await prove();
  expect(sent).toMatchObject({
    status: 303,
    headers: { 'referrer-policy': 'same-origin', 'cache-control': 'no-store' },
  });
  const asked = new URL(String(sent.headers.location));
  expect(asked.origin).toBe('https://auth.example.com');
  expect(asked.searchParams.get('redirect_uri')).toBe(`${PUBLIC}/login/caller`);
  expect(page.status).toBe(200);
  expect(page.text).toContain('<strong>oauth:alice</strong> signs in to <strong>tickets</strong>');
  expect(page.text).toContain('<form method="post" action="/login/tickets">');
  // Nothing has begun before the click.
  expect(await logins.list()).toEqual([]);
  const begun = await post('/login/tickets', { proof }, own);
  expect(begun.status).toBe(303);
  const { searchParams } = new URL(String(begun.headers.location));
  expect(searchParams.get('redirect_uri')).toBe(`${PUBLIC}/login/callback`);
  const ended = await get(`/login/callback?state=${searchParams.get('state')}&code=c`, cookieOf(begun));
  expect(ended.status).toBe(200);
  expect((await logins.list()).map(({ server, owner }) => ({ server, owner }))).toEqual([TICKETS]);
});

// S87, S88
test('a link never signs somebody in as another caller', async () => {
  const { get, post, prove, logins } = await serve();
  const attacker = await post('/login/tickets');
  const state = new URL(String(attacker.headers.location)).searchParams.get('state');
  const victim = await prove();
  // The way back of the attacker, opened by the victim.
  for (const path of [`/login/caller?state=${state}&code=c`, `/login/callback?state=${state}&code=c`])
    expect((await get(path, victim.own)).status).toBe(400);
  // A proof in a form of another browser, and a cookie of another proof.
  expect((await post('/login/tickets', { proof: victim.proof }, OWN)).status).toBe(400);
  const other = await prove();
  expect((await post('/login/tickets', { proof: victim.proof }, other.own)).status).toBe(400);
  // The proof is for one server, and is used by the attempt.
  expect((await post('/login/notes', { proof: victim.proof }, victim.own)).status).toBe(400);
  expect((await post('/login/tickets', { proof: victim.proof }, victim.own)).status).toBe(400);
  expect(await logins.list()).toEqual([]);
});

describe('a form', () => {
  test.each(['https://app.example.com', 'http://localhost:3000', 'https://evil.example', 'null'])(
    'from the origin %s is refused, also from an allowed one',
    async (Origin) => {
      const { post, prove } = await serve({ allowedOrigins: ['https://app.example.com'] });
      const { proof, own } = await prove();
      for (const fields of [{}, { proof }]) {
        const reply = await post('/login/tickets', fields, { ...own, Origin });
        expect(reply.status).toBe(403);
        expect(cookiesOf(reply)).toEqual([]);
      }
      expect((await post('/login/tickets', { proof }, own)).status).toBe(303);
    },
  );

  test('is used once', async () => {
    const { post, prove } = await serve();
    const { proof, own } = await prove();
    const both = await Promise.all([post('/login/tickets', { proof }, own), post('/login/tickets', { proof }, own)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([303, 400]);
  });

  test('that is too large is refused', async () => {
    const { post, prove } = await serve();
    const { proof, own } = await prove();
    expect((await post('/login/tickets', { proof, more: 'x'.repeat(5000) }, own)).status).toBe(400);
  });

  test('deletes only the login of its caller', async () => {
    const { post, prove, logins } = await serve();
    const bob = { server: 'tickets', owner: { ...ALICE, sub: 'bob' } };
    for (const key of [TICKETS, bob]) logins.sign(key);
    const { page, proof, own } = await prove();
    expect(page.text).toContain('Delete this login');
    const { status, text } = await post('/login/tickets', { proof, action: 'remove' }, own);
    expect(status).toBe(200);
    expect(text).toContain('The login of oauth:alice to tickets was deleted.');
    expect((await logins.list()).map(({ owner }) => owner)).toEqual([bob.owner]);
  });
});

describe('a person who has proved to be a caller', () => {
  test.each(['unknown', 'notes'])('gets 404 for the server %s, which does not exist for it', async (server) => {
    const rightsOf = () => ({ ...EVERYTHING, isForEveryone: false, sees: (name: string) => name === 'tickets' });
    const { prove, logins } = await serve({ rightsOf });
    logins.issuerOf = () => Promise.reject(new Error('asked'));
    const { page, proof } = await prove(server);
    expect(page.status).toBe(404);
    expect(page.text).not.toContain(server);
    expect(proof).toBe('');
  });

  test('has the rights of its token, also when it clicks', async () => {
    const seen: unknown[] = [];
    const rights = { ...EVERYTHING, sees: () => seen.length < 2 };
    const rightsOf = (owner: unknown) => {
      seen.push(owner);
      return rights;
    };
    const { post, prove, people } = await serve({ rightsOf });
    people.person = { ...people.person, groups: ['team'] };
    const { proof, own } = await prove();
    expect((await post('/login/tickets', { proof }, own)).status).toBe(404);
    expect(seen).toEqual([people.person, people.person]);
  });

  test('reads why the issuer of the server cannot be used, and can delete a login all the same', async () => {
    const { post, prove, logins } = await serve();
    logins.issuerOf = async () => err({ kind: 'failed', reason: 'no <b>response</b> in time' });
    const { page } = await prove();
    expect(page.status).toBe(502);
    expect(page.text).toContain('no &#60;b&#62;response&#60;/b&#62; in time');
    logins.sign(TICKETS);
    const { proof, own } = await prove();
    expect((await post('/login/tickets', { proof, action: 'remove' }, own)).status).toBe(200);
    expect(await logins.list()).toEqual([]);
  });
});

describe('the way back of a person', () => {
  test.each([
    ['no state', () => 'code=c'],
    ['another state', () => 'state=other&code=c'],
    ['an error of the issuer', (state: string) => `state=${state}&error=access_denied`],
  ])('with %s is a page with one sentence', async (_, query) => {
    const { get, post } = await serve();
    const sent = await post('/login/tickets');
    const state = new URL(String(sent.headers.location)).searchParams.get('state') ?? '';
    const { status, text, headers } = await get(`/login/caller?${query(state)}`, cookieOf(sent));
    expect(status).toBe(400);
    expect(text.match(/<p/g)).toHaveLength(1);
    expect(headers['referrer-policy']).toBe('same-origin');
  });

  test('works once', async () => {
    const { get, prove } = await serve();
    const { sent, state } = await prove();
    expect((await get(`/login/caller?state=${state}&code=c`, cookieOf(sent))).status).toBe(400);
  });
});

test('no more sign-ins begin at the same time than one caller has places', async () => {
  const tokens = [{ caller: 'browsers', token: 'token-of-browsers' }];
  const { get, post, people } = await serve({ maxCallsPerToken: 1, tokens });
  let go = () => {};
  const waiting = new Promise<void>((resolve) => {
    go = resolve;
  });
  const begin = people.begin.bind(people);
  people.begin = async (...args) => {
    await waiting;
    return begin(...args);
  };
  const first = post('/login/tickets');
  await expect.poll(async () => (await post('/login/tickets')).status).toBe(429);
  // No caller has these places, whatever the name.
  expect((await get('/login', { Authorization: 'Bearer token-of-browsers' })).status).toBe(200);
  go();
  expect((await first).status).toBe(303);
});
