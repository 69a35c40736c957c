import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../../../../src/adapters/outbound/config/load-config.ts';
import { HOME_VARIABLE } from '../../../../support/platform.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-long-answers-'));
  vi.stubEnv(HOME_VARIABLE, folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function load(config: object | undefined, environment: Readonly<Record<string, string>> = {}) {
  const file = join(folder, 'given.yaml');
  if (config !== undefined) writeFileSync(file, JSON.stringify(config));
  const commandLine: Record<string, string> = config === undefined ? {} : { '--config': file };
  return loadConfig({ environment, commandLine, version: '1.2.3' });
}

async function longAnswers(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'value' in loaded ? loaded.value.longAnswers : expect.fail(JSON.stringify(loaded.problems));
}

async function problems(...given: Parameters<typeof load>) {
  const loaded = await load(...given);
  return 'problems' in loaded ? loaded.problems : expect.fail('nothing is wrong');
}

const DEFAULTS = { maxMs: 3_600_000, keepMs: 3_600_000, taskAfterMs: 30_000, orphanMs: 120_000 };
const EXPECTED = 'expected a list of tools, of answer, answer_detailed, answer_quick';

test.each([
  ['nothing', undefined, {}],
  ['an empty list', { long_answers: { tools: [] } }, {}],
  ['other keys', { long_answers: { max_ms: 5, orphan_ms: 0 } }, {}],
  ['an empty variable', undefined, { LONG_ANSWERS: '' }],
  ['a blank variable', undefined, { LONG_ANSWERS: '  ' }],
])('%s: the searches of no tool go on', async (_what, config, environment) => {
  expect(await longAnswers(config, environment)).toBeUndefined();
});

describe('LONG_ANSWERS', () => {
  test('lists the tools, and the other keys have their defaults', async () => {
    expect(await longAnswers(undefined, { LONG_ANSWERS: 'answer_detailed' })).toEqual({
      tools: ['answer_detailed'],
      ...DEFAULTS,
    });
  });

  test('may have spaces around the names, and a name twice', async () => {
    const LONG_ANSWERS = ' answer ,answer_quick,  answer_detailed , answer';
    expect(await longAnswers(undefined, { LONG_ANSWERS })).toMatchObject({
      tools: ['answer', 'answer_quick', 'answer_detailed'],
    });
  });

  test('overrides YAML, and an empty one does not', async () => {
    const yaml = { long_answers: { tools: ['answer'] } };
    expect(await longAnswers(yaml, { LONG_ANSWERS: 'answer_quick' })).toMatchObject({ tools: ['answer_quick'] });
    expect(await longAnswers(yaml, { LONG_ANSWERS: '' })).toMatchObject({ tools: ['answer'] });
  });

  test.each(['detailed', 'answer;answer_quick', 'answer_detailed,', 'Answer', 'true', '[answer]'])(
    'another value is a problem: %s',
    async (LONG_ANSWERS) => {
      expect(await problems(undefined, { LONG_ANSWERS })).toEqual([
        { where: 'LONG_ANSWERS', value: LONG_ANSWERS, message: EXPECTED },
      ]);
    },
  );
});

describe('YAML', () => {
  test('may set every key', async () => {
    const tools = ['answer_detailed', 'answer'];
    const keys = { tools, max_ms: 1, keep_ms: 2, task_after_ms: 3, orphan_ms: 0 };
    expect(await longAnswers({ long_answers: keys })).toEqual({
      tools,
      maxMs: 1,
      keepMs: 2,
      taskAfterMs: 3,
      orphanMs: 0,
    });
  });

  test.each([[['answer', 'research']], ['answer'], [true], [{ answer: true }], [[1]]])(
    'is a problem with tools: %j',
    async (tools) => {
      const value = typeof tools === 'object' ? JSON.stringify(tools) : String(tools);
      expect(await problems({ long_answers: { tools } })).toMatchObject([
        { where: 'long_answers.tools', value, message: EXPECTED },
      ]);
    },
  );

  test.each([
    ['max_ms', 0, 'expected an integer of milliseconds, 1 or greater'],
    ['keep_ms', 0, 'expected an integer of milliseconds, 1 or greater'],
    ['task_after_ms', 0, 'expected an integer of milliseconds, 1 or greater'],
    ['orphan_ms', -1, 'expected an integer of milliseconds, 0 or greater'],
    ['max_ms', 1.5, 'expected an integer of milliseconds, 1 or greater'],
  ])('is a problem with %s: %d', async (key, value, message) => {
    expect(await problems({ long_answers: { [key]: value } })).toMatchObject([
      { where: `long_answers.${key}`, value: String(value), message },
    ]);
  });
});

describe('a single place', () => {
  const message =
    'expected an integer, 2 or greater, because long_answers.tools (LONG_ANSWERS) is set: searches that no call waits for hold up to half of these places';

  test('is a problem with tools, where it is set', async () => {
    const long_answers = { tools: ['answer'] };
    expect(await problems({ request: { max_concurrency: 1 }, long_answers })).toMatchObject([
      { where: 'request.max_concurrency', value: '1', message },
    ]);
    expect(await problems({ long_answers }, { OPENAI_MAX_CONCURRENCY: '1' })).toMatchObject([
      { where: 'OPENAI_MAX_CONCURRENCY', value: '1', message },
    ]);
  });

  test('is none without tools, and two places are enough', async () => {
    expect(await longAnswers({ request: { max_concurrency: 1 } })).toBeUndefined();
    expect(await longAnswers({ request: { max_concurrency: 2 }, long_answers: { tools: ['answer'] } })).toBeDefined();
  });
});

test('--show-config shows the keys like all others', async () => {
  const loaded = await load(undefined, { LONG_ANSWERS: 'answer' });
  const { effective } = 'value' in loaded ? await loaded.value.shown() : expect.fail();
  expect(effective).toMatchObject({
    request: { max_concurrency: 16 },
    long_answers: {
      tools: ['answer'],
      max_ms: 3_600_000,
      keep_ms: 3_600_000,
      task_after_ms: 30_000,
      orphan_ms: 120_000,
    },
  });
});
