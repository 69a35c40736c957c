import { describe, expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import type { Runtime } from '../../../src/bootstrap.ts';
import { GatewayHolder } from '../../../src/modes/gateway-holder.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const HOOKS = { onCallEnded: () => {}, logSpawn: () => {} };
const server = (name: string, secret: string, isPublic = false) =>
  ({ name, isPublic, connection: { kind: 'child', envs: { TOKEN: secret } } }) as unknown as ServerEntry;

/** Answers use only the server `jira`. */
function start({ expose = false } = {}) {
  const started: string[][] = [];
  const names = (servers: readonly ServerEntry[]) => servers.map(({ name }) => name);
  const holder = new GatewayHolder(async ({ servers }) => {
    started.push(names(servers));
    return {
      gateway: {} as never,
      reconfigure: async (servers) => void started.push(names(servers)),
      close: async () => {},
    };
  });
  const servers = [server('jira', 'jira-secret'), server('wiki', 'wiki-secret')];
  const config = { servers, grounding: { tools: { jira: 'all' } }, gateway: { expose } };
  const runtime = { config, logger: new RecordingLogger() } as unknown as Runtime;
  return { holder, started, runtime, servers };
}

describe('answers', () => {
  test('start the servers whose tools they use, once (ruling L6)', async () => {
    const { holder, started, runtime } = start();
    await Promise.all([holder.forAnswers(runtime), holder.forAnswers(runtime)]);
    await holder.forAnswers(runtime);
    expect(started).toEqual([['jira']]);
  });

  test('start all servers that clients use too', async () => {
    const { holder, started, runtime } = start({ expose: true });
    await holder.forAnswers(runtime);
    expect(started).toEqual([['jira', 'wiki']]);
  });

  test('use the servers that have been started', async () => {
    const { holder, started, runtime, servers } = start();
    await holder.configure(servers, HOOKS);
    await holder.forAnswers(runtime);
    await holder.configure([server('jira', 'other-secret')], HOOKS);
    await holder.forAnswers(runtime);
    expect(started).toEqual([['jira', 'wiki'], ['jira']]);
  });

  test('know which servers are public now', async () => {
    const { holder, runtime } = start();
    await holder.configure([server('jira', '', true), server('wiki', '')], HOOKS);
    const inFlight = await holder.forAnswers(runtime);
    expect(['jira', 'wiki'].map(inFlight.isPublic)).toEqual([true, false]);
    await holder.configure([server('jira', ''), server('wiki', '', true)], HOOKS);
    expect(['jira', 'wiki'].map(inFlight.isPublic)).toEqual([false, true]);
  });
});
