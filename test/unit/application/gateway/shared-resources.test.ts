import { err, ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import { type SharedRequest, SharedResources } from '../../../../src/application/gateway/shared-resources.ts';
import { rightsBy } from '../../../../src/domain/gateway/access.ts';
import { EVERYTHING } from '../../../../src/domain/gateway/call-origin.ts';
import type { SharedList } from '../../../../src/domain/gateway/shared-entries.ts';
import { errorOf, expectNoListener, never } from '../../../contract/search-kit.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { untilAborted } from '../../../support/fake-tool-server.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';
import { type ScriptedGatewayOptions, startScripted } from '../../../support/scripted-gateway.ts';
import { SharingServer } from '../../../support/sharing-server.ts';

async function start(
  servers: Readonly<Record<string, SharingServer>>,
  definitions: ScriptedGatewayOptions['definitions'] = {},
) {
  const clock = new FakeClock();
  const defaults = Object.fromEntries(Object.keys(servers).map((name) => [name, { restart: 'never' as const }]));
  const gateway = startScripted(servers, { clock, definitions: { ...defaults, ...definitions } });
  const shared = new SharedResources(gateway, clock);
  await settled();
  // After the start, all lists were read.
  for (const { requests } of Object.values(servers)) requests.length = 0;
  const ask = (request: Omit<SharedRequest, 'toParams'>, by = LOCAL, signal = never()) =>
    shared.ask({ ...request, toParams: (id) => ({ id, uri: id }) }, by, signal);
  return {
    clock,
    gateway,
    shared,
    list: (list: SharedList, by = LOCAL, isContinued = false) => shared.list(list, isContinued, by),
    read: (uri: string, by = LOCAL, signal = never()) =>
      ask({ method: 'resources/read', kind: 'resource', id: uri }, by, signal),
    get: (name: string, by = LOCAL) => ask({ method: 'prompts/get', kind: 'prompt', id: name }, by),
    complete: (kind: SharedRequest['kind'], id: string) => ask({ method: 'completion/complete', kind, id }),
  };
}

const withPrompts = (...prompts: readonly string[]) => new SharingServer({ prompts });

/** Lets only some of the servers be read. */
const alice = (servers: Readonly<Record<string, 'all' | 'read_only' | readonly string[]>>) =>
  callerOf('alice', { rights: rightsBy({ alice: { servers } })({ caller: 'alice' }) });

const hangs = async (_: string, __: object, signal: AbortSignal) => {
  await untilAborted(signal);
  return err({ kind: 'aborted' as const });
};

describe('a list', () => {
  test('asks only servers that declare it, and that the caller may read', async () => {
    const servers = {
      a: withPrompts('x'),
      b: withPrompts('x'),
      c: new SharingServer({ resources: ['c:1'] }),
      d: withPrompts('x'),
    };
    const { list } = await start(servers);
    const by = alice({ a: 'read_only', b: ['*'], c: 'all' });
    expect((await list('prompts', by)).map(({ name }) => name)).toEqual(['a__x']);
    expect(Object.values(servers).map(({ methods }) => methods)).toEqual([['prompts/list'], [], [], []]);
  });

  test('leaves out a server that fails, has ended, or has not answered within 500 ms, starts included', async () => {
    const broken = withPrompts('x');
    broken.replies['prompts/list'] = async () => err({ kind: 'json_rpc', code: -32603, message: 'broken' });
    const silent = withPrompts('x');
    silent.replies['prompts/list'] = hangs;
    const starting = new SharingServer({ prompts: ['x'] }, 'hangs');
    const lost = withPrompts('x');
    const { list, clock } = await start({ broken, silent, starting, lost, good: withPrompts('x') });
    lost.crash();
    const listing = list('prompts');
    const onOver = vi.fn();
    void listing.then(onOver);
    await clock.advance(300);
    starting.letConnect();
    starting.replies['prompts/list'] = hangs;
    await settled();
    await clock.advance(199);
    expect(onOver).not.toHaveBeenCalled();
    await clock.advance(1);
    expect((await listing).map(({ name }) => name)).toEqual(['good__x']);
  });

  test('is current, unless it is read further', async () => {
    const a = withPrompts('x');
    const { list } = await start({ a });
    await list('prompts');
    a.shared = { prompts: ['y'] };
    expect((await list('prompts', LOCAL, true)).map(({ name }) => name)).toEqual(['a__x']);
    expect((await list('prompts')).map(({ name }) => name)).toEqual(['a__y']);
  });
});

test('a list has what an idle server listed before', async () => {
  const a = withPrompts('x');
  const { list, clock, gateway } = await start({ a }, { a: { idleMs: 1000 } });
  await clock.advance(1000);
  expect(gateway.servers).toMatchObject([{ state: 'idle' }]);
  expect(await list('prompts')).toEqual([{ name: 'a__x', title: 'x of a' }]);
});

describe('a URI', () => {
  const textOf = async (outcome: ReturnType<Awaited<ReturnType<typeof start>>['read']>) =>
    (await outcome)._unsafeUnwrap().contents;
  const first = () => new SharingServer({ resources: ['x:both', 'x:1'], templates: ['t:{+a}'] });
  const second = () => new SharingServer({ resources: ['x:both', 'ui://card'], templates: ['t:{a}'] });

  test.each([
    ['gateway:///b/x:both', 'b: x:both', 'the server that it names'],
    ['gateway:///b/x:unlisted', 'b: x:unlisted', 'the server that it names'],
    ['ui://card', 'b: ui://card', 'the server that lists it'],
  ])('%s is read as "%s" from %s', async (uri, text) => {
    const { read } = await start({ a: first(), b: second() });
    expect(await textOf(read(uri))).toEqual([{ uri, text }]);
  });

  test.each(['x:1', 'ui://other', 'gateway:///c/x:1', 'gateway:///hidden/x:hidden', 'x:hidden'])(
    '%s is unknown',
    async (uri) => {
      const hidden = new SharingServer({ resources: ['x:hidden'], templates: ['gateway:{+a}', 'x:{a}'] });
      const { read } = await start({ hidden, a: first(), b: second() });
      expect(errorOf(await read(uri, alice({ a: 'all', b: 'all', hidden: ['*'] })))).toMatchObject({
        kind: 'unknown_server',
      });
      expect(hidden.requests).toEqual([]);
    },
  );

  test('goes to the only server with resources, which is not asked for its lists', async () => {
    const a = new SharingServer({ resources: [] });
    const { read } = await start({ p: withPrompts('x'), a });
    expect(await textOf(read('x:unlisted'))).toEqual([{ uri: 'x:unlisted', text: 'a: x:unlisted' }]);
    expect(a.methods).toEqual(['resources/read']);
    expect(errorOf(await read('gateway:///b/x:1'))).toMatchObject({ kind: 'unknown_server' });
  });

  test('goes to the only server with resources, if a server without any has ended', async () => {
    const tools = new SharingServer({ prompts: [] });
    const { read, list } = await start({ tools, a: new SharingServer({ resources: [] }) });
    await list('resources');
    tools.crash();
    expect(await textOf(read('x:unlisted'))).toEqual([{ uri: 'x:unlisted', text: 'a: x:unlisted' }]);
  });
});

describe('a prompt', () => {
  test('is got from its server by its own name', async () => {
    const { get, list } = await start({ a: withPrompts('x'), a_: withPrompts('x') });
    const names = (await list('prompts')).map(({ name }) => String(name));
    expect(names).toEqual(['a__x', expect.stringMatching(/^a___x_[0-9a-f]{8}$/)]);
    const got = await Promise.all(names.map(async (name) => (await get(name))._unsafeUnwrap().description));
    expect(got).toEqual(['a: {"id":"x","uri":"x"}', 'a_: {"id":"x","uri":"x"}']);
  });

  test.each(['x', 'b__x', 'hidden__x'])('%j is unknown', async (name) => {
    const hidden = withPrompts('x');
    const { get } = await start({ a: withPrompts('x'), hidden });
    expect(errorOf(await get(name, alice({ a: 'all' })))).toMatchObject({ kind: 'unknown_server' });
    expect(hidden.requests).toEqual([]);
  });

  test('of a server that is down fails with its state, whether it is known or not', async () => {
    const a = withPrompts('x');
    const { get } = await start({ a, b: new SharingServer({ prompts: ['x'] }, 'no such program') });
    await get('a__x');
    a.crash();
    for (const name of ['a__x', 'b__any']) expect(errorOf(await get(name))).toMatchObject({ kind: 'not_available' });
  });
});

describe('a completion', () => {
  test('goes to the server of the prompt or the template', async () => {
    const a = new SharingServer({ prompts: ['x'], templates: ['t:{a}'], completions: ['done'] });
    const b = new SharingServer({ prompts: ['x'], templates: ['t:{a}'] });
    const { complete } = await start({ a, b });
    const done = { completion: { values: ['done'] } };
    expect((await complete('prompt', 'a__x'))._unsafeUnwrap()).toEqual(done);
    expect((await complete('resource', 'gateway:///a/t:{a}'))._unsafeUnwrap()).toEqual(done);
    expect((await complete('resource', 'gateway:///b/t:{a}'))._unsafeUnwrap()).toEqual({ completion: { values: [] } });
    expect(b.methods).not.toContain('completion/complete');
    expect(errorOf(await complete('prompt', 'c__y'))).toMatchObject({ kind: 'unknown_server' });
  });
});

describe('a request', () => {
  const slow = () => {
    const a = new SharingServer({ resources: [] });
    a.replies['resources/read'] = hangs;
    return a;
  };

  test('ends after the time limit of its server', async () => {
    const { read, clock } = await start({ a: slow() }, { a: { timeoutMs: 2000 } });
    const reading = read('a:1');
    await clock.advance(2000);
    expect(errorOf(await reading)).toEqual({ kind: 'timed_out', timeoutMs: 2000 });
  });

  test('is cancelled at its server with the caller, and leaves nothing', async () => {
    const a = slow();
    const { read, gateway } = await start({ a });
    const controller = new AbortController();
    const reading = read('a:1', LOCAL, controller.signal);
    await settled();
    expect(a.methods).toEqual(['resources/read']);
    controller.abort();
    expect(errorOf(await reading)).toEqual({ kind: 'cancelled' });
    expectNoListener(controller.signal);
    await gateway.readable({ rights: EVERYTHING })[0]?.places.whenIdle();
  });
});

test('the capabilities are those that the servers declare which the caller may read, also of one that is lost', async () => {
  const all = new SharingServer({ resources: [], prompts: [], completions: [] });
  const prompts = new SharingServer({ prompts: [] });
  const { shared } = await start({ all, prompts });
  const of = (by = LOCAL) => shared.capabilities(by.rights);
  expect(of()).toEqual(['resources', 'prompts', 'completions']);
  expect(of(alice({ prompts: 'all', all: ['*'] }))).toEqual(['prompts']);
  expect(of(alice({}))).toEqual([]);
  all.crash();
  expect(of()).toEqual(['resources', 'prompts', 'completions']);
});

test('a server that has not said yet what it has may have everything', async () => {
  const slow = new SharingServer({ prompts: [] }, 'hangs');
  const { shared } = await start({ slow, fast: new SharingServer({ resources: [] }) });
  expect(shared.capabilities(EVERYTHING)).toEqual(['resources', 'prompts', 'completions']);
  expect(shared.capabilities(alice({ fast: 'all' }).rights)).toEqual(['resources']);
  slow.letConnect();
  await settled();
  expect(shared.capabilities(EVERYTHING)).toEqual(['resources', 'prompts']);
});

test('nothing rejects, whatever a server answers', async () => {
  const odd = new SharingServer({ resources: [], prompts: [] });
  odd.respond = async () => ok({ resources: 'none', prompts: [1, null, {}], contents: [1] });
  const { list, read } = await start({ odd });
  expect(await list('resources')).toEqual([]);
  expect(await list('prompts')).toEqual([]);
  expect((await read('a:1'))._unsafeUnwrap()).toMatchObject({
    contents: [{ uri: 'a:1', text: '1' }],
  });
});

describe('a server whose list fails', () => {
  const fails = async () => err({ kind: 'json_rpc' as const, code: -32000, message: 'Busy' });

  test('keeps the prompts that it listed before', async () => {
    const a = withPrompts('p');
    const { get, list, clock } = await start({ a, b: withPrompts('y') });
    expect((await get('a__p')).isOk()).toBe(true);
    a.replies = { 'prompts/list': fails };
    for (const ms of [0, 6000, 60_000]) {
      await clock.advance(ms);
      expect((await get('a__p')).isOk()).toBe(true);
    }
    expect((await list('prompts')).map(({ name }) => name)).toEqual(['a__p', 'b__y']);
  });

  test('is asked for its prompts', async () => {
    const a = withPrompts('p');
    a.replies = { 'prompts/list': fails };
    const { get } = await start({ a });
    expect((await get('a__p')).isOk()).toBe(true);
  });
});

test('lists at the same time share their requests, and need no place', async () => {
  const servers = { a: new SharingServer({ resources: ['x:1'], prompts: ['p'] }) };
  const { list } = await start(servers, { a: { maxConcurrency: 1 } });
  const lists = await Promise.all(
    (['resources', 'resourceTemplates', 'prompts', 'resources'] as const).map((one) => list(one)),
  );
  expect(lists.map(({ length }) => length)).toEqual([1, 0, 1, 1]);
  expect(servers.a.methods).toHaveLength(3);
});

test('a prompt that is not listed is asked of the only server that its name begins with', async () => {
  const [a, other] = [withPrompts('p'), withPrompts('p')];
  const { get } = await start({ a, a_: other });
  expect((await get('a__q'))._unsafeUnwrap()).toMatchObject({ description: 'a: {"id":"q","uri":"q"}' });
  expect(errorOf(await get('a___q'))).toMatchObject({ kind: 'unknown_server' });
});

test('a server that has no resources is not asked for one', async () => {
  const a = withPrompts('p');
  const { read } = await start({ a, b: new SharingServer({ resources: ['x:1'] }) });
  expect(errorOf(await read('gateway:///a/x:1'))).toMatchObject({ kind: 'unknown_server' });
  expect(a.methods).toEqual([]);
});

test('a server that is named does not wait for the start of another', async () => {
  const late = new SharingServer({ resources: ['x:1'] });
  late.connect = (_, signal) => untilAborted(signal).then(() => err('aborted'));
  const { read, get } = await start({ late, b: new SharingServer({ resources: ['x:1'], prompts: ['p'] }) });
  expect((await read('gateway:///b/x:1')).isOk()).toBe(true);
  expect((await get('b__p')).isOk()).toBe(true);
});
