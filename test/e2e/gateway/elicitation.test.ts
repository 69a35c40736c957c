import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/domain/values/json.ts';
import { earlierRemote, earlierServer, modernServer } from '../../support/servers/asking-servers.ts';
import {
  earlierOverHttp,
  earlierOverStdio,
  modernOverHttp,
  modernOverStdio,
  type Person,
  person,
  textIn,
} from './elicitation-kit.ts';
import { startGatewayProcess } from './serve-gateway.ts';

interface Caller {
  readonly call: (tool: string, args?: JsonObject) => Promise<unknown>;
}

type Connect = (server: object, by: Person, capabilities?: object) => Promise<Caller>;

const toCaller = (client: {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}) => ({
  call: (tool: string, args: JsonObject = {}) => client.callTool({ name: `files__${tool}`, arguments: { ...args } }),
});
const EXPOSED = { gateway: { expose: true } };
const httpUrl = async (server: object) => (await startGatewayProcess([server], { yaml: EXPOSED })).url;

const ASKED: Readonly<Record<string, Connect>> = {
  'an earlier client over stdio': async (server, by, more) => toCaller(await earlierOverStdio([server], by, more)),
  'a modern client over stdio': async (server, by, more) => toCaller(await modernOverStdio([server], by, more)),
  'a modern client over HTTP': async (server, by, more) =>
    toCaller(await modernOverHttp(await httpUrl(server), by, more)),
};

const SERVERS: Readonly<Record<string, () => Promise<object>>> = {
  'an earlier server over stdio': async () => earlierServer('files'),
  'an earlier server over HTTP': () => earlierRemote('files'),
  'a modern server': async () => (await modernServer('files')).entry,
};

const PAIRS = Object.entries(ASKED).flatMap(([caller, connect]) =>
  Object.entries(SERVERS).map(([name, server]) => ({ caller, connect, name, server })),
);

// S79
describe.for(PAIRS)('$caller, and $name', ({ caller, connect, server }) => {
  test('the person reads who asks, and the server gets the answer', async () => {
    const by = person();
    const { call } = await connect(await server(), by);
    const result = await call('delete', { files: 2 });
    expect(textIn(result)).toBe('{"action":"accept","content":{"sure":true}}');
    expect(by.asked).toMatchObject([
      { message: 'files asks: Delete 2 files?', requestedSchema: { required: ['sure'] } },
    ]);
  });

  test('declining and cancelling are answers', async () => {
    const actions = ['decline', 'cancel'].values();
    const { call } = await connect(
      await server(),
      person(() => ({ action: actions.next().value })),
    );
    expect(textIn(await call('delete'))).toBe('{"action":"decline"}');
    expect(textIn(await call('delete'))).toBe('{"action":"cancel"}');
  });

  test('a URL is asked with its address, and with an ID only where the client requires one', async () => {
    const by = person(() => ({ action: 'accept' }));
    const { call } = await connect(await server(), by);
    expect(textIn(await call('visit'))).toBe('{"action":"accept"}');
    expect(by.asked).toMatchObject([
      { mode: 'url', message: 'files asks: Sign in', url: 'https://example.com/login?a=1' },
    ]);
    expect(by.asked.map(({ elicitationId }) => typeof elicitationId)).toEqual([
      caller.includes('earlier') ? 'string' : 'undefined',
    ]);
  });

  test('a call may ask again', async () => {
    const by = person(({ message }) => ({ action: 'accept', content: { sure: true, reason: String(message) } }));
    const { call } = await connect(await server(), by);
    expect(JSON.parse(textIn(await call('twice')))).toMatchObject([
      { content: { reason: 'files asks: First?' } },
      { content: { reason: 'files asks: Second?' } },
    ]);
  });

  test('nobody is asked in an odd form, or by a text that is too long', async () => {
    const by = person();
    const { call } = await connect(await server(), by);
    for (const tool of ['huge', 'odd']) {
      const result = await call(tool);
      expect(result).toMatchObject({ isError: true });
      expect(textIn(result)).toMatch(/^INPUT_REQUIRED: .*nobody was asked/);
    }
    expect(by.asked).toEqual([]);
  });

  test('characters that control a terminal are removed', async () => {
    const by = person();
    const { call } = await connect(await server(), by);
    await call('hidden');
    expect(by.asked).toMatchObject([{ message: 'files asks: Delete 3 files?' }]);
  });
});

const CANNOT: Readonly<Record<string, Connect>> = {
  'an earlier client over stdio without elicitation': async (server, by) =>
    toCaller(await earlierOverStdio([server], by, {})),
  'a modern client over stdio without elicitation': async (server, by) =>
    toCaller(await modernOverStdio([server], by, {})),
  'an earlier client over HTTP': async (server, by) => toCaller(await earlierOverHttp(await httpUrl(server), by)),
  'a modern client over HTTP without elicitation': async (server, by) =>
    toCaller(await modernOverHttp(await httpUrl(server), by, {})),
};

describe.for(
  Object.entries(CANNOT).flatMap(([caller, connect]) =>
    Object.entries(SERVERS).map(([name, server]) => ({ caller, connect, name, server })),
  ),
)('$caller, and $name', ({ connect, server, name }) => {
  test('cannot be asked', async () => {
    const by = person();
    const { call } = await connect(await server(), by);
    const result = await call('delete');
    expect(result).toMatchObject({ isError: true });
    expect(by.asked).toEqual([]);
    expect(textIn(result)).toMatch(
      name === 'a modern server'
        ? /^INPUT_REQUIRED: files (?:asks: Delete 3 files\?|needs to ask a question\.) Nobody can be asked here\. Call this tool from a client that supports elicitation, or in the terminal\.$/
        : /^INPUT_REQUIRED: files asks: Delete 3 files\? Nobody can be asked here\. Call this tool from a client that supports elicitation, or in the terminal\.$/,
    );
  });
});
