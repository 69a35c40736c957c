import { describe, expect, test } from 'vitest';
import {
  type DescribedServer,
  planServer,
  type Starts,
} from '../../../../src/application/gateway/server-definition.ts';
import type { Definitions } from '../../../../src/application/ports/tool-server.ts';
import { approve } from '../../../../src/domain/gateway/approved-tools.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeKeptDefinitions } from '../../../support/fake-kept-definitions.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';
import { redactorOf } from '../../../support/redactor.ts';
import { configured } from '../../../support/scripted-gateway.ts';

const SECRET = 'secret-of-a-user-0123456789';
const DAY_MS = 24 * 60 * 60 * 1000;

type Start = DescribedServer['definition']['start'];

const described = (transport: 'stdio' | 'http' = 'stdio', start?: Start, key = 'key'): DescribedServer => {
  const { definition, ...server } = configured('fake', { transport, restart: 'on-failure' });
  return { ...server, definition: { ...definition, start }, key: async () => key, changedMs: async () => 0 };
};
const definitions = (more: Partial<Definitions> = {}): Definitions => ({
  listedAt: new FakeClock().now(),
  tools: [fakeTool('echo')],
  capabilities: {},
  shared: {},
  ...more,
});

/** A program of one user, who keeps definitions. */
function newProgram() {
  const options = { clock: new FakeClock(), redactor: redactorOf(SECRET), kept: new FakeKeptDefinitions() };
  const plan = (server: DescribedServer, starts: Starts = 'on_use', approved?: ReturnType<typeof approve>) =>
    planServer(server, { ...options, starts, approved });
  const keep = async (kept = definitions()) => (await plan(described())).keep?.(kept);
  return { plan, keep };
}

// S64
describe('a server starts at once', () => {
  test.each<[Starts, 'stdio' | 'http', Start, ageDays: number, boolean]>([
    ['on_use', 'stdio', undefined, 0, false],
    ['on_use', 'stdio', undefined, 1, true],
    ['on_use', 'stdio', 'at_once', 0, true],
    ['on_use', 'http', undefined, 0, true],
    ['on_use', 'http', 'on_use', 0, false],
    ['unknown', 'stdio', 'at_once', 1, false],
    ['unknown', 'http', undefined, 1, false],
    ['all', 'stdio', 'on_use', 0, true],
    ['at_once', 'stdio', undefined, 0, true],
    ['at_once', 'stdio', 'on_use', 0, false],
  ])(
    'where those start that are "%s": over %s with the key %s, of which the lists are %d days old: %s',
    async (...row) => {
      const [starts, transport, start, ageDays, isAtOnce] = row;
      const { plan, keep } = newProgram();
      await keep(definitions({ listedAt: new Date(new FakeClock().now().getTime() - ageDays * DAY_MS) }));
      const { definition } = await plan(described(transport, start), starts);
      expect(definition.start).toBe(isAtOnce ? 'at_once' : 'on_use');
    },
  );
});

test.each<[Starts, string]>([
  ['on_use', 'on-failure'],
  ['at_once', 'on-failure'],
  ['all', 'never'],
  ['unknown', 'never'],
])('where those start that are "%s", a server is started again: %s', async (starts, restart) => {
  expect((await newProgram().plan(described(), starts)).definition.restart).toBe(restart);
});

describe('what is kept', () => {
  // S64
  test.each<Starts>(['on_use', 'at_once'])(
    'is known from the first moment where servers start "%s"',
    async (starts) => {
      const { plan, keep } = newProgram();
      await keep();
      const { known, keep: keepAgain } = await plan(described(), starts);
      expect(known).toEqual(definitions());
      expect(keepAgain).toBeDefined();
    },
  );

  test('is known with the same key only', async () => {
    const { plan, keep } = newProgram();
    await keep();
    expect((await plan(described())).known).toEqual(definitions());
    expect((await plan(described('stdio', undefined, 'another key'))).known).toBeUndefined();
  });

  test.each<[string, Starts, number, boolean]>([
    ['is used again while a person looks', 'unknown', 0, true],
    ['is not, if a file of the command has changed since', 'unknown', 1, false],
    ['is where clients are served, whatever has changed', 'on_use', 1, true],
  ])('%s', async (_, starts, laterMs, isKnown) => {
    const { plan, keep } = newProgram();
    await keep();
    const changedMs = async () => new FakeClock().now().getTime() + laterMs;
    const { known, definition } = await plan({ ...described(), changedMs }, starts);
    expect([known !== undefined, definition.start]).toEqual([isKnown, 'on_use']);
  });

  test('contains no secret that the program knows', async () => {
    const { plan, keep } = newProgram();
    await keep(definitions({ serverInfo: { name: SECRET } }));
    expect((await plan(described())).known?.serverInfo).toEqual({ name: '[redacted]' });
  });
});

test('without anything kept, the tools of gateway.lock are known where clients are served', async () => {
  const { plan } = newProgram();
  const tools = [fakeTool('echo')];
  const approved = approve([{ name: 'fake', tools }]);
  expect((await plan(described(), 'on_use', approved)).known).toEqual({ tools, shared: {} });
  expect((await plan(described(), 'unknown', approved)).known).toBeUndefined();
});
