import { expect, onTestFinished, test, vi } from 'vitest';
import { createContainer } from '../../src/wiring/container.ts';
import { bootstrap } from '../../src/wiring/runtime.ts';
import { API_KEY } from './search-kit.ts';

/** What is logged when the program is composed, which is with the first question. */
async function logFor(baseUrl: string) {
  const log: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => log.push(String(text)) > 0);
  onTestFinished(() => void vi.restoreAllMocks());
  vi.stubEnv('HOME', '/nonexistent');
  onTestFinished(() => void vi.unstubAllEnvs());
  const environment = { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: baseUrl };
  const validated = await bootstrap({ environment, commandLine: {}, version: '0.9.0' });
  if ('problems' in validated) throw new Error(JSON.stringify(validated.problems));
  const { application, close } = createContainer(validated.value, '', () =>
    Promise.reject(new Error('there are no servers')),
  );
  application();
  await close();
  return log.join('');
}

test.each([
  ['http://api.example.com/v1', / WARN openai\.base_url begins with http:\/\/: .* are sent unencrypted\n$/],
  ['https://api.example.com/v1', /^$/],
  ['http://localhost:11434/v1', /^$/],
])('the log for the base URL %s matches %s', async (baseUrl, expected) => {
  expect(await logFor(baseUrl)).toMatch(expected);
});
