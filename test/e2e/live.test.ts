import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { failsHtml, neverAnswers } from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { newLiveFolder, readChecks } from '../support/live-run.ts';
import { posixTest } from '../support/platform.ts';
import { API_KEY, ROOT } from './serve.ts';

/** Starts `npm run live` without its npm, in a folder of its own. */
function startLive(args: readonly string[], variables: NodeJS.ProcessEnv) {
  const folder = newLiveFolder();
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts', 'live.js'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([once(child, 'close'), text(child.stdout).catch(() => ''), text(child.stderr)]);
  const outcome = ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr }));
  return { child, folder, outcome };
}

test('without a key, it says so and exits with 2', async () => {
  const { outcome, folder } = startLive(['--yes'], {});
  const { code, stderr } = await outcome;
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^No API key: .*OPENAI_API_KEY.*\nUsage: npm run live -- /),
  });
  expect(readChecks(folder).size).toBe(0);
});

posixTest('signals')('after Ctrl-C, the report is valid, and the request to the API has ended', async () => {
  const api = await startFakeApi({ always: neverAnswers() });
  const args = ['--yes', '--only', 'answer', '--only', 'shapes'];
  const { child, folder, outcome } = startLive(args, { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: api.url });
  await api.waitForRequests(1);
  child.kill('SIGINT');
  await api.waitForAbort(0);
  const { code, stderr } = await outcome;
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  const checks = readChecks(folder);
  expect(checks.size).toBe(28);
  expect([checks.get('answer')?.seen, checks.get('shapes')?.seen]).toEqual([
    'The question was cancelled.\ninterrupted',
    'not run',
  ]);
  await api.close();
});

posixTest('signals')('without a reader of its output, or a terminal, it ends and leaves no folder', async () => {
  const api = await startFakeApi();
  api.replyWith(({ body }) => (String(body.input).includes('emoji') ? neverAnswers() : failsHtml(400)));
  const temporary = newLiveFolder();
  const variables = { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: api.url, TMPDIR: temporary };
  const piped = startLive(['--yes', '--only', 'errors', '--only', 'answer'], variables);
  piped.child.stdout.once('data', () => piped.child.stdout.destroy());
  expect(await piped.outcome).toMatchObject({ code: 130, stderr: '' });
  const hungUp = startLive(['--yes', '--only', 'answer'], variables);
  await api.waitForRequests(api.requests.length + 1);
  hungUp.child.kill('SIGHUP');
  expect(await hungUp.outcome).toMatchObject({ code: 130, stderr: '' });
  expect(readdirSync(temporary)).toEqual([]);
  await api.close();
});
