import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import type { Definitions } from '../../../src/application/ports/kept-definitions.ts';
import { approve } from '../../../src/domain/gateway/approved-tools.ts';
import { knownOf, type Starts } from '../../../src/wiring/kept-definitions.ts';
import type { Runtime } from '../../../src/wiring/runtime.ts';
import { newFolder } from '../../e2e/files.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { loginAt } from '../../support/fake-issuer.ts';
import { FakeKeptDefinitions } from '../../support/fake-kept-definitions.ts';
import { fakeTool } from '../../support/fake-tool-server.ts';
import { redactorOf } from '../../support/redactor.ts';

const SECRET = 'secret-of-a-user-0123456789';
const DAY_MS = 24 * 60 * 60 * 1000;

const child = (more: object = {}) => ({
  kind: 'child',
  command: 'x',
  args: [],
  cwd: '/',
  envs: {},
  inheritEnv: [],
  ...more,
});
const remote = { kind: 'remote', url: 'https://mcp.example/', transport: 'auto', headers: {} };
const entryOf = (connection: object, start?: ServerEntry['start']) =>
  ({ name: 'fake', connection, start }) as ServerEntry;
const definitions = (more: Partial<Definitions> = {}): Definitions => ({
  listedAt: new FakeClock().now(),
  tools: [fakeTool('echo')],
  capabilities: {},
  shared: {},
  ...more,
});

/** A program of one user, who keeps definitions. */
function newProgram() {
  const clock = new FakeClock();
  const logins = newFolder();
  const runtime = { config: { gateway: { logins } }, clock, redactor: redactorOf(SECRET) } as unknown as Runtime;
  const kept = new FakeKeptDefinitions();
  const look = (entry: ServerEntry, starts: Starts = 'on_use', approved?: ReturnType<typeof approve>) =>
    knownOf(entry, starts, kept, approved, runtime);
  const keep = async (entry: ServerEntry, kept = definitions()) => (await look(entry)).keep?.(kept);
  return { clock, look, keep, files: new LoginFiles(logins, clock) };
}

// S64
describe('a server starts at once', () => {
  test.each<[Starts, object, ServerEntry['start'], ageDays: number, boolean]>([
    ['on_use', child(), undefined, 0, false],
    ['on_use', child(), undefined, 1, true],
    ['on_use', child(), 'at_once', 0, true],
    ['on_use', remote, undefined, 0, true],
    ['on_use', remote, 'on_use', 0, false],
    ['unknown', child(), 'at_once', 1, false],
    ['all', child(), 'on_use', 0, true],
    ['at_once', child(), undefined, 0, true],
    ['at_once', child(), 'on_use', 0, false],
  ])('where those start that are "%s": %j with the key %s, of which the lists are %d days old: %s', async (...row) => {
    const [starts, connection, start, ageDays, isAtOnce] = row;
    const { look, keep } = newProgram();
    const entry = entryOf(connection, start);
    await keep(
      entryOf(connection, 'on_use'),
      definitions({ listedAt: new Date(new FakeClock().now().getTime() - ageDays * DAY_MS) }),
    );
    expect((await look(entry, starts)).start).toBe(isAtOnce ? 'at_once' : 'on_use');
  });
});

describe('what is kept', () => {
  test('is known with the same entry', async () => {
    const { look, keep } = newProgram();
    await keep(entryOf(child()));
    expect((await look(entryOf(child()))).known).toEqual(definitions());
  });

  test.each([
    ['name', { ...entryOf(child()), name: 'other' }],
    ['project', entryOf(child({ cwd: '/other' }))],
    ['value of a variable', entryOf(child({ envs: { TOKEN: 'other' } }))],
    ['variable that is inherited', entryOf(child({ inheritEnv: ['PATH'] }))],
  ])('is not known with another %s', async (_, entry) => {
    const { look, keep } = newProgram();
    await keep(entryOf(child()));
    expect((await look(entry)).known).toBeUndefined();
  });

  test('is not known with another login', async () => {
    const { look, keep, files } = newProgram();
    const signIn = (id: string) =>
      files.locked(remote.url, () => files.write(remote.url, { ...loginAt('https://issuer.example'), id }));
    await signIn('alice');
    await keep(entryOf(remote));
    expect((await look(entryOf(remote))).known).toBeDefined();
    await signIn('bob');
    expect((await look(entryOf(remote))).known).toBeUndefined();
  });

  test('contains no secret that the program knows', async () => {
    const { look, keep } = newProgram();
    await keep(entryOf(child()), definitions({ serverInfo: { name: SECRET } }));
    expect((await look(entryOf(child()))).known?.serverInfo).toEqual({ name: '[redacted]' });
  });
});

test('without anything kept, the tools of gateway.lock are known where clients are served', async () => {
  const { look } = newProgram();
  const tools = [fakeTool('echo')];
  const approved = approve([{ name: 'fake', tools }]);
  expect((await look(entryOf(child()), 'on_use', approved)).known).toEqual({ tools, shared: {} });
  expect((await look(entryOf(child()), 'unknown', approved)).known).toBeUndefined();
});
