import { expect, test, vi } from 'vitest';
import { createContainer } from '../../../src/wiring/container.ts';
import { bootstrap } from '../../../src/wiring/runtime.ts';

/** The container of a program with this environment, and what ends it. */
async function containerOf(environment: Readonly<Record<string, string>>, commandLine = {}) {
  vi.stubEnv('HOME', '/nonexistent');
  const validated = await bootstrap({ environment, commandLine, version: '1.2.3' });
  if ('problems' in validated) return expect.fail(JSON.stringify(validated.problems));
  const noServers = () => Promise.reject(new Error('there are no servers'));
  return createContainer(validated.value, { recordings: '/nonexistent', textWorker: '/nonexistent' }, noServers);
}

test('the application and its ports are made once', async () => {
  const { application, close } = await containerOf({ OPENAI_API_KEY: 'sk-0123456789abcdef' });
  expect(application()).toBe(application());
  await close();
});

test('recorded answers need no key, and read no pages', async () => {
  const environment = { RESOLVE_DATES: 'true' };
  const { application, close } = await containerOf(environment, { '--offline': '' });
  expect(application().checkCounts).toBeUndefined();
  await close();
});
