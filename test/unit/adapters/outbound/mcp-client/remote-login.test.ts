import { describe, expect, onTestFinished, test } from 'vitest';
import {
  LoginRequired,
  NotAuthorized,
  RemoteLogin,
  type ServerTokens,
} from '../../../../../src/adapters/outbound/mcp-client/remote-login.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const SERVER = 'https://notes.example.com/mcp';
const COMMAND = 'openai-responses-mcp login notes';

interface Seen {
  readonly url: string;
  readonly token: string | null;
}

/** `accepted` are the tokens that the server accepts, or `any`, also without one. */
function start(
  options: { readonly auth?: 'authorization_code' | 'client_credentials'; readonly challenge?: string } = {},
) {
  const clock = new FakeClock();
  const seen: Seen[] = [];
  const world = {
    accepted: ['token-1'] as readonly string[],
    refusal: new Response('no', { status: 401, headers: { 'WWW-Authenticate': options.challenge ?? 'Bearer' } }),
    /** The tokens of the login, the next one first. */
    tokens: [] as string[],
    login: undefined as Awaited<ReturnType<ServerTokens['read']>>,
    failure: undefined as Error | undefined,
    whyEnded: undefined as string | undefined,
    reads: 0,
  };
  const writeLogin = (id: string, ...tokens: readonly string[]) => {
    world.login = { id, tokens: { scope: 'read', access_token: tokens[0] ?? '' } };
    world.tokens = [...tokens];
  };
  let known: ServerTokens['login'];
  const tokens: ServerTokens = {
    get login() {
      return known;
    },
    get refusal() {
      return world.whyEnded;
    },
    read: async () => {
      world.reads += 1;
      known = world.login;
      return known;
    },
    token: async (refused) => {
      if (world.failure !== undefined) throw world.failure;
      known = world.login;
      if (world.tokens[0] === refused) world.tokens.shift();
      return world.tokens[0];
    },
  };
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const token = new Headers(init?.headers).get('authorization');
    seen.push({ url: String(url), token });
    const isAccepted = world.accepted.includes('any') || world.accepted.includes(token?.replace('Bearer ', '') ?? '');
    return isAccepted ? new Response('yes') : world.refusal.clone();
  };
  const auth = options.auth && { grant: options.auth };
  const signIn = options.auth === 'client_credentials' ? undefined : `with: ${COMMAND}`;
  const login = new RemoteLogin({ name: 'notes', signIn, url: SERVER, auth, clock, fetch, tokens });
  const ask = async () => (await login.fetch(SERVER, { method: 'POST', body: '{}', headers: { 'X-Own': '1' } })).text();
  const tokensSent = () => seen.map(({ token }) => token);
  return { clock, world, login, ask, seen, tokensSent, writeLogin };
}

describe('a request', () => {
  test('of a server that asks for nothing is sent as it is', async () => {
    const { world, ask, tokensSent } = start();
    world.accepted = ['any'];
    expect(await ask()).toBe('yes');
    expect(tokensSent()).toEqual([null]);
  });

  test('has the token of the login, also if nothing is configured', async () => {
    const { ask, tokensSent, writeLogin } = start();
    writeLogin('1', 'token-1');
    expect(await ask()).toBe('yes');
    expect(tokensSent()).toEqual(['Bearer token-1']);
  });

  // S69
  test('to another origin never has it', async () => {
    const { login, seen, world, writeLogin } = start();
    world.accepted = ['any'];
    writeLogin('1', 'token-1');
    await login.fetch('https://auth.example.com/token');
    await login.fetch('https://notes.example.com:8443/mcp');
    expect(seen.map(({ token }) => token)).toEqual([null, null]);
  });

  test('is sent once more with another token, if the first is refused', async () => {
    const { ask, login, tokensSent, writeLogin } = start();
    writeLogin('1', 'old', 'token-1');
    expect(await ask()).toBe('yes');
    expect(tokensSent()).toEqual(['Bearer old', 'Bearer token-1']);
    expect(login.required).toBeUndefined();
  });

  test('fails with the reason, if no token can be had', async () => {
    const { ask, login, world, seen, writeLogin } = start();
    writeLogin('1', 'token-1');
    world.failure = new Error('no answer of the issuer');
    const failure = await ask().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotAuthorized);
    expect((failure as NotAuthorized).error).toEqual({
      kind: 'unauthorized',
      status: 401,
      reason: 'no answer of the issuer',
    });
    expect([seen.length, login.required]).toEqual([0, undefined]);
  });
});

describe('a person must sign in', () => {
  const isRequired = async (started: ReturnType<typeof start>) => {
    await expect(started.ask()).rejects.toBeInstanceOf(LoginRequired);
    expect(started.login.required).toContain(COMMAND);
  };

  test('if the server refuses a request with a challenge', async () => isRequired(start()));
  test('if it refuses a request without one, and `auth` is configured', async () =>
    isRequired(start({ auth: 'authorization_code', challenge: 'Basic realm="x"' })));

  test('if it refuses a token that is new', async () => {
    const started = start();
    started.writeLogin('1', 'old', 'also-refused', 'another');
    await isRequired(started);
    expect(started.tokensSent()).toEqual(['Bearer old', 'Bearer also-refused']);
  });

  test('if the login has ended: then nothing is sent', async () => {
    const started = start();
    started.writeLogin('1');
    await isRequired(started);
    expect(started.seen).toEqual([]);
  });

  test('with the reason of the issuer beside the command', async () => {
    const started = start();
    started.writeLogin('1');
    started.world.whyEnded = 'https://auth.example.com/token answered invalid_client: Gone';
    await isRequired(started);
    expect(started.login.required).toBe(
      `requires a login, because https://auth.example.com/token answered invalid_client: Gone; sign in with: ${COMMAND}`,
    );
  });

  test.each(['', 'Negotiate', 'Basic realm="Bearer"'])(
    'if it refuses a request in another way (%j), because no other credentials are configured',
    async (challenge) => isRequired(start({ challenge })),
  );

  test('but not for a machine', async () => {
    const { ask, login, world } = start({ auth: 'client_credentials' });
    world.tokens = ['old', 'also-refused'];
    await expect(ask()).rejects.toBeInstanceOf(NotAuthorized);
    expect(login.required).toBeUndefined();
  });

  test('until a request succeeds, or fails for another reason', async () => {
    const started = start();
    await isRequired(started);
    started.world.accepted = ['any'];
    await started.ask();
    expect(started.login.required).toBeUndefined();
  });
});

describe('a refusal for missing scopes', () => {
  const missing = (scope: string) =>
    new Response('no', {
      status: 403,
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    });

  test('names those of the login and of the challenge, and what to do', async () => {
    const { ask, login, world, writeLogin } = start();
    writeLogin('1', 'weak');
    world.refusal = missing('write read');
    const failure = await ask().catch((error: unknown) => error as NotAuthorized);
    expect(failure).toMatchObject({ error: { kind: 'unauthorized', status: 403, scopes: ['read', 'write'] } });
    expect(login.required).toMatch(new RegExp(`read write.*auth.scopes.*${COMMAND}`));
  });

  test('of a call leaves the connection as it is', async () => {
    const { login, world, writeLogin } = start();
    writeLogin('1', 'weak');
    world.refusal = missing('write');
    const body = JSON.stringify({ params: {}, method: 'tools/call', id: 1, jsonrpc: '2.0' }, undefined, 1);
    await expect(login.fetch(SERVER, { method: 'POST', body })).rejects.toBeInstanceOf(NotAuthorized);
    expect(login.required).toBeUndefined();
  });

  test('of a machine names no command', async () => {
    const { ask, login, world } = start({ auth: 'client_credentials' });
    world.tokens = ['weak'];
    world.refusal = missing('write');
    const failure = await ask().catch((error: unknown) => error as NotAuthorized);
    expect(failure).toMatchObject({ error: { scopes: ['write'], reason: expect.stringContaining('auth.scopes') } });
    expect([login.required, JSON.stringify(failure)]).toEqual([undefined, expect.not.stringContaining(COMMAND)]);
  });

  test('another 403 is passed on', async () => {
    const { ask, world, writeLogin } = start();
    writeLogin('1', 'weak');
    world.refusal = new Response('forbidden', { status: 403 });
    expect(await ask()).toBe('forbidden');
  });
});

describe('a change of the login', () => {
  async function watching(options: Parameters<typeof start>[0] = {}) {
    const started = start(options);
    let changes = 0;
    const forget = started.login.onChanged(() => {
      changes += 1;
    });
    const look = async () => {
      await started.clock.advance(1000);
      await expect.poll(() => started.clock.pendingSleeps).toBe(1);
      return changes;
    };
    return { ...started, look, forget };
  }

  test('is noticed within 2 s: a new one, another one, and its end, but not a renewal', async () => {
    const { login, world, writeLogin, ask, look, forget, clock } = await watching();
    await ask().catch(() => {});
    expect(login.required).toContain(COMMAND);
    expect(await look()).toBe(0);
    writeLogin('1', 'token-1');
    expect(await look()).toBe(1);
    expect(login.required).toBeUndefined();
    writeLogin('1', 'renewed');
    expect(await look()).toBe(1);
    writeLogin('2', 'token-1');
    expect(await look()).toBe(2);
    writeLogin('2');
    await ask().catch(() => {});
    expect(login.required).toContain(COMMAND);
    writeLogin('2', 'put back');
    expect(await look()).toBe(3);
    world.login = undefined;
    expect(await look()).toBe(4);
    forget();
    expect(clock.pendingSleeps).toBe(0);
  });

  test('is not the login that exists at the start', async () => {
    const { clock, world, login, writeLogin } = start();
    writeLogin('1', 'token-1');
    let changes = 0;
    onTestFinished(login.onChanged(() => (changes += 1)));
    await clock.advance(3000);
    expect([world.reads, changes]).toEqual([4, 0]);
  });

  test.each([
    ['a server that has never asked for a login', {}, 1],
    ['a server with `auth`', { auth: 'authorization_code' } as const, 4],
    ['a machine', { auth: 'client_credentials' } as const, 0],
  ])('of %s is looked for only if it can exist', async (_, options, reads) => {
    const { world, ask, clock } = await watching(options);
    world.accepted = ['any'];
    world.tokens = ['token-1'];
    await ask();
    await clock.advance(3000);
    expect(world.reads).toBe(reads);
  });
});
