import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { never } from '../../../../src/application/async/deadline.ts';
import type { ServerDefinition } from '../../../../src/application/gateway/server-definition.ts';
import { SharedResources } from '../../../../src/application/gateway/shared-resources.ts';
import type { ServerEvents } from '../../../../src/application/ports/tool-server.ts';
import type { CallOrigin } from '../../../../src/domain/gateway/call-origin.ts';
import type { Asker, ElicitationAnswer } from '../../../../src/domain/gateway/elicitation.ts';
import { idOfUse, type LoginOwner, ownerName, ownerOf } from '../../../../src/domain/gateway/login-owner.ts';
import { callOn } from '../../../support/catalogue.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../support/fake-server-login.ts';
import { FakeToolServer, fakeTool, textResult } from '../../../support/fake-tool-server.ts';
import { callerOf } from '../../../support/origins.ts';
import { configured, gatewayOf } from '../../../support/scripted-gateway.ts';

const URL = 'https://gateway.example.com/login/tickets';
const [ALICE, BOB, CAROL] = ['alice', 'bob', 'carol'].map((name) => callerOf(name)) as [
  CallOrigin,
  CallOrigin,
  CallOrigin,
];

/** A server that answers with the name of the owner of the login, and refuses connections without a login. */
class OwnServer extends FakeToolServer {
  readonly #hasLogin: () => boolean;
  readonly #fakeLogin = new FakeServerLogin('tickets');

  constructor(owner: LoginOwner, hasLogin: () => boolean) {
    super();
    this.login = this.#fakeLogin;
    this.#hasLogin = hasLogin;
    this.capabilities = { tools: {}, resources: {} };
    this.answer = async () => ok(textResult(ownerName(owner)));
    this.respond = async (method) => {
      const name = ownerName(owner);
      if (method === 'resources/list') return ok({ resources: [{ uri: `file:///${name}`, name }] });
      return ok({ contents: [{ uri: 'file:///own', text: name }] });
    };
  }

  override async connect(events: ServerEvents, signal: AbortSignal) {
    this.#fakeLogin.required = this.#hasLogin() ? undefined : 'requires a login';
    return super.connect(events, signal);
  }
}

function start(more: Partial<ServerDefinition> & { readonly maxConnections?: number } = {}) {
  const { maxConnections = 100, ...definition } = more;
  const clock = new FakeClock();
  const logins = new Set<string>();
  /** The IDs of logins other than the first ones, also of those that the server refuses. */
  const ids = new Map<string, string>();
  const servers = new Map<string, OwnServer[]>();
  const tickets = configured('tickets', { start: 'on_use', loginUrl: URL, ...definition });
  const perCaller = {
    maxConnections,
    signInWords: (caller: string) => `Sign in to tickets as ${caller}.`,
    loginId: async (owner: LoginOwner) => ids.get(idOfUse(owner)) ?? (logins.has(idOfUse(owner)) ? 'first' : undefined),
    serverFor: (owner: LoginOwner) => {
      const server = new OwnServer(owner, () => logins.has(idOfUse(owner)));
      const id = ownerName(owner);
      servers.set(id, [...(servers.get(id) ?? []), server]);
      return server;
    },
  };
  const gateway = gatewayOf([{ ...tickets, perCaller }], { clock, isShared: true });
  const signIn = (by: CallOrigin) => {
    const owner = ownerOf(by);
    if (owner !== undefined) logins.add(idOfUse(owner));
  };
  const call = (by: CallOrigin, asker?: Asker, signal = never()) =>
    callOn(gateway, { server: 'tickets', tool: 'echo', args: {}, by, asker }, signal, { clock });
  const textOf = async (by: CallOrigin) => (await call(by)).map(({ content }) => content);
  const closed = (name: string) =>
    (servers.get(name) ?? []).map(({ connections }) => connections.map((one) => one.isEnded));
  return { gateway, clock, logins, ids, servers, signIn, call, textOf, closed, common: tickets.server };
}

const text = (name: string) => ok([{ type: 'text', text: name }]);
const LOGIN_REQUIRED = { error: { kind: 'login_required', server: 'tickets', url: URL } };

// S89
test('each caller uses a connection of their own, with their login', async () => {
  const { signIn, textOf, servers, gateway, common } = start();
  for (const by of [ALICE, BOB]) signIn(by);
  expect(await Promise.all([textOf(ALICE), textOf(BOB), textOf(ALICE)])).toEqual(['alice', 'bob', 'alice'].map(text));
  expect([...servers.values()].map((own) => own.map(({ starts }) => starts))).toEqual([[1], [1]]);
  expect(gateway.connections).toEqual(new Map([['tickets', 2]]));
  expect(common.starts).toBe(0);
});

test('callers whom another claim names alike are told apart by their subject', async () => {
  const { signIn, textOf } = start();
  const named = (sub: string) => callerOf('oauth:sam', { subject: { issuer: 'https://a.example', sub } });
  for (const sub of ['1', '2']) signIn(named(sub));
  expect(await textOf(named('1'))).toEqual(text('oauth:1'));
  expect(await textOf(named('2'))).toEqual(text('oauth:2'));
  expect(await textOf(callerOf('oauth:sam'))).toMatchObject(LOGIN_REQUIRED);
});

test('a call without a login connects to nothing, and says where to sign in', async () => {
  const { signIn, call, servers } = start();
  expect(await call(BOB)).toMatchObject(LOGIN_REQUIRED);
  signIn(ALICE);
  expect((await call(ALICE)).isOk()).toBe(true);
  expect(await call(BOB)).toMatchObject(LOGIN_REQUIRED);
  expect(servers.get('bob')?.every(({ connections }) => connections.length === 0)).toBe(true);
  signIn(BOB);
  expect((await call(BOB)).isOk()).toBe(true);
});

test('the tools are known from the login of anyone, and the state is that of each caller', async () => {
  const { gateway, signIn, textOf } = start();
  const stateOf = async (by: CallOrigin) => {
    const visible = gateway.as(by);
    await visible.whenLooked(never());
    return visible.servers.map(({ state, loginUrl, login, tools }) => ({ state, loginUrl, login, tools }));
  };
  expect([gateway.readiness(), gateway.tools]).toEqual(['ready', []]);
  signIn(ALICE);
  await textOf(ALICE);
  await settled();
  const known = { login: undefined, tools: 1 };
  expect(await stateOf(ALICE)).toEqual([{ ...known, state: 'available', loginUrl: undefined }]);
  expect(await stateOf(BOB)).toEqual([{ ...known, state: 'login_required', loginUrl: URL }]);
  signIn(BOB);
  expect(await stateOf(BOB)).toEqual([{ ...known, state: 'available', loginUrl: undefined }]);
});

test('a tool that only the login of another caller shows is listed, and cannot be called', async () => {
  const { gateway, signIn, call, servers } = start();
  for (const by of [ALICE, BOB]) signIn(by);
  await call(ALICE);
  await settled();
  const [own] = servers.get('alice') ?? [];
  if (own === undefined) throw new Error('alice has no server');
  own.last.changeTools([fakeTool('echo'), fakeTool('admin')]);
  await settled();
  await call(BOB);
  await settled();
  expect(gateway.tools.map(({ name }) => name).sort()).toEqual(['admin', 'echo']);
  const admin = (by: CallOrigin) => callOn(gateway, { server: 'tickets', tool: 'admin', args: {}, by }, never());
  expect((await admin(ALICE)).isOk()).toBe(true);
  expect(await admin(BOB)).toMatchObject({ error: { kind: 'unknown_tool' } });
});

test('resources are read by the connection of the caller, and those of others are not listed', async () => {
  const { gateway, signIn, call, clock } = start();
  for (const by of [ALICE, BOB]) signIn(by);
  await call(ALICE);
  await settled();
  const shared = new SharedResources(gateway, clock);
  const names = async (by: CallOrigin) => (await shared.list('resources', false, by)).map(({ name }) => name);
  expect(await names(ALICE)).toEqual(['tickets__alice']);
  expect(await names(BOB)).toEqual([]);
  expect(await names(CAROL)).toEqual([]);
  const request = { method: 'resources/read', kind: 'resource', id: 'gateway:///tickets/file:///own' } as const;
  const read = (by: CallOrigin) => shared.ask({ ...request, toParams: (uri) => ({ uri }) }, by, never());
  expect(await read(BOB)).toMatchObject({ value: { contents: [{ text: 'bob' }] } });
  expect(await read(ALICE)).toMatchObject({ value: { contents: [{ text: 'alice' }] } });
  expect(await read(CAROL)).toMatchObject(LOGIN_REQUIRED);
});

// S89
describe('a resource or a prompt without a login', () => {
  const begin = () => {
    const kit = start({ questionTimeoutMs: 5000 });
    const shared = new SharedResources(kit.gateway, kit.clock);
    const request = { method: 'resources/read', kind: 'resource', id: 'gateway:///tickets/file:///own' } as const;
    const read = (more: object = {}) =>
      shared.ask({ ...request, toParams: (uri) => ({ uri }), ...more }, ALICE, never());
    const declared = { elicitation: { url: {} } };
    const answer = (action: string) => read({ declared, retry: { inputResponses: { 'gateway.login': { action } } } });
    return { ...kit, shared, read, declared, answer };
  };

  test('asks a caller who can be asked to open a URL, and goes on when the login is there', async () => {
    const { read, answer, declared, signIn, clock, servers, shared } = begin();
    expect(shared.isPersonal).toBe(true);
    const message = 'tickets asks: Sign in to tickets as alice.';
    expect(await read({ declared })).toEqual(
      ok({
        resultType: 'input_required',
        inputRequests: {
          'gateway.login': { method: 'elicitation/create', params: { mode: 'url', message, url: URL } },
        },
      }),
    );
    expect(servers.get('alice')?.every(({ connections }) => connections.length === 0)).toBe(true);
    const reading = answer('accept');
    await clock.advance(2000);
    signIn(ALICE);
    await clock.advance(1000);
    expect(await reading).toMatchObject({ value: { contents: [{ text: 'alice' }] } });
  });

  test('a completion cannot end with a question', async () => {
    const { read, declared } = begin();
    expect(await read({ declared, method: 'completion/complete' })).toMatchObject(LOGIN_REQUIRED);
  });

  test.each(['decline', 'cancel'])('fails at once after %s', async (action) => {
    expect(await begin().answer(action)).toMatchObject(LOGIN_REQUIRED);
  });

  test('fails without a login within question_timeout, and for a caller who can be asked with forms only', async () => {
    const { read, answer, clock } = begin();
    const reading = answer('accept');
    await clock.advance(5000);
    expect(await reading).toMatchObject(LOGIN_REQUIRED);
    expect(await read({ declared: { elicitation: {} } })).toMatchObject(LOGIN_REQUIRED);
  });
});

describe('connections', () => {
  test('end after idle_ms, and begin again with the next call', async () => {
    const { clock, signIn, call, closed, gateway } = start({ idleMs: 1000 });
    signIn(ALICE);
    await call(ALICE);
    await settled();
    await clock.advance(1000);
    expect([closed('alice'), gateway.connections.get('tickets')]).toEqual([[[true]], 0]);
    expect((await call(ALICE)).isOk()).toBe(true);
  });

  test('are limited: the one that is unused for longest gives way, and calls are refused if all are in use', async () => {
    const { signIn, call, closed, servers } = start({ maxConnections: 2 });
    for (const by of [ALICE, BOB, CAROL]) signIn(by);
    for (const by of [ALICE, BOB, ALICE, CAROL]) expect((await call(by)).isOk()).toBe(true);
    await settled();
    expect([closed('alice'), closed('bob'), closed('carol')]).toEqual([[[false]], [[true]], [[false]]]);
    const waiting: (() => void)[] = [];
    for (const name of ['alice', 'carol']) {
      const [own] = servers.get(name) ?? [];
      if (own !== undefined)
        own.answer = () => new Promise((resolve) => waiting.push(() => resolve(ok(textResult('a')))));
    }
    const busy = [call(ALICE), call(CAROL)];
    await settled();
    expect(await call(BOB)).toMatchObject({ error: { kind: 'overloaded', maxConcurrency: 2, unit: 'connections' } });
    for (const end of waiting) end();
    await Promise.all(busy);
    expect((await call(BOB)).isOk()).toBe(true);
  });

  test('of a caller who no longer exists end, and no others', async () => {
    const { gateway, signIn, call, closed } = start();
    for (const by of [ALICE, BOB]) {
      signIn(by);
      await call(by);
    }
    gateway.endCallers((owner) => ownerName(owner) === 'bob');
    await settled();
    expect([closed('alice'), closed('bob')]).toEqual([[[true]], [[false]]]);
  });
});

describe('a caller who can be asked', () => {
  const asker = (answer: Asker['ask']): Asker => ({ declared: { elicitation: { url: {} } }, ask: answer });

  test('is asked to sign in, and the call goes on when the login is there', async () => {
    const { signIn, call, clock } = start();
    signIn(BOB);
    await call(BOB);
    await settled();
    const asked: unknown[] = [];
    const calling = call(
      ALICE,
      asker(async ({ server, message, mode, params }) => {
        asked.push({ server, message, mode, params });
        return { action: 'accept' };
      }),
    );
    await clock.advance(5000);
    const message = 'Sign in to tickets as alice.';
    expect(asked).toEqual([{ server: 'tickets', message, mode: 'url', params: { mode: 'url', message, url: URL } }]);
    signIn(ALICE);
    await clock.advance(1000);
    expect((await calling).map(({ content }) => content)).toEqual(text('alice'));
  });

  test('whose login the server refuses waits for another one', async () => {
    const { signIn, ids, call, clock } = start();
    signIn(BOB);
    await call(BOB);
    await settled();
    const id = idOfUse({ kind: 'token', name: 'alice' });
    ids.set(id, 'refused');
    let outcome: unknown;
    const calling = call(
      ALICE,
      asker(async () => ({ action: 'accept' })),
    ).then((ended) => {
      outcome = ended;
    });
    await clock.advance(5000);
    expect(outcome).toBeUndefined();
    signIn(ALICE);
    ids.set(id, 'second');
    await clock.advance(1000);
    await calling;
    expect(outcome).toMatchObject({ value: { content: [{ text: 'alice' }] } });
  });

  test.each<ElicitationAnswer['action']>(['decline', 'cancel'])('gets the error at once after %s', async (action) => {
    const { signIn, call } = start();
    signIn(BOB);
    await call(BOB);
    await settled();
    expect(
      await call(
        ALICE,
        asker(async () => ({ action })),
      ),
    ).toMatchObject(LOGIN_REQUIRED);
  });

  test('gets the error after question_timeout, and nothing waits on', async () => {
    const { signIn, call, clock, servers } = start({ questionTimeoutMs: 5000, timeoutMs: 1000 });
    signIn(BOB);
    await call(BOB);
    await settled();
    const calling = call(
      ALICE,
      asker(async () => ({ action: 'accept' })),
    );
    await clock.advance(5000);
    expect(await calling).toMatchObject(LOGIN_REQUIRED);
    expect(servers.get('alice')?.every(({ connections }) => connections.length === 0)).toBe(true);
  });

  test('is not asked after the call was cancelled', async () => {
    const { signIn, call, clock } = start();
    signIn(BOB);
    await call(BOB);
    await settled();
    const cancelled = new AbortController();
    const calling = call(
      ALICE,
      asker(async () => ({ action: 'accept' })),
      cancelled.signal,
    );
    await settled();
    cancelled.abort();
    signIn(ALICE);
    await clock.advance(2000);
    expect((await calling).isErr()).toBe(true);
  });
});

test('at random, no call is answered by the login of another caller', async () => {
  const { signIn, logins, call, clock } = start({ maxConnections: 3, idleMs: 50 });
  const callers = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => callerOf(name));
  let seed = 7;
  const random = (max: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % max;
  };
  const answered: string[] = [];
  const calls: Promise<void>[] = [];
  for (let turn = 0; turn < 500; turn += 1) {
    const by = callers[random(callers.length)];
    if (by === undefined) continue;
    const step = random(10);
    if (step === 0) logins.delete(idOfUse({ kind: 'token', name: by.caller }));
    else if (step < 4) signIn(by);
    else if (step === 4) await clock.advance(random(100));
    else {
      const cancelled = new AbortController();
      const check = (outcome: Awaited<ReturnType<typeof call>>) => {
        if (outcome.isOk()) answered.push(`${by.caller} ${JSON.stringify(outcome.value.content)}`);
      };
      calls.push(call(by, undefined, cancelled.signal).then(check));
      if (step === 5) cancelled.abort();
      if (step === 6) await settled();
    }
  }
  await clock.advance(1000);
  await Promise.all(calls);
  expect(answered.length).toBeGreaterThan(100);
  for (const line of answered)
    expect(line.split(' ')[1]).toBe(JSON.stringify([{ type: 'text', text: line.split(' ')[0] }]));
});
