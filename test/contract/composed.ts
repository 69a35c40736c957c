import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Result } from 'neverthrow';
import { onTestFinished, vi } from 'vitest';
import type { AnswerQueryInput } from '../../src/application/answers/answer-query.ts';
import { never } from '../../src/application/async/deadline.ts';
import type { Answer } from '../../src/application/tools/tool-call.ts';
import type { AnswerError } from '../../src/domain/answers/answer-error.ts';
import { createContainer } from '../../src/wiring/container.ts';
import { bootstrap } from '../../src/wiring/runtime.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { callerOf } from '../support/origins.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { BUILT_TEXT_WORKER } from '../support/text-worker.ts';
import { API_KEY } from './search-kit.ts';

/** The complete program without a driver, as `main` composes it, with a configuration in YAML, on a fake API; for one test. */
export async function composeOn(api: FakeApi, yaml = '', environment: Readonly<Record<string, string>> = {}) {
  const home = mkdtempSync(join(tmpdir(), 'contract-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  vi.stubEnv(HOME_VARIABLE, home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(home, 'config.yaml');
  writeFileSync(file, yaml === '' ? '{}' : yaml);
  const validated = await bootstrap({
    environment: { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: api.url, ...environment },
    commandLine: { '--config': file },
    version: '0.9.0',
  });
  if ('problems' in validated) throw new Error(JSON.stringify(validated.problems));
  const { application, close } = createContainer(
    validated.value,
    { recordings: home, textWorker: BUILT_TEXT_WORKER },
    () => Promise.reject(new Error('there are no servers')),
  );
  onTestFinished(close);
  onTestFinished(() => validated.value.close());
  return (over: Partial<AnswerQueryInput> = {}): Promise<Result<Answer, AnswerError>> =>
    application().answerQuery.execute(
      {
        by: callerOf('test'),
        tool: 'answer',
        args: { query: 'Hello?' },
        observer: { onProgress: () => undefined },
        ...over,
      },
      never(),
    );
}
