import { describe, expect, test } from 'vitest';
import { givenConfig } from '../../../../support/given-config.ts';

const { load, problemsOf: problems, acceptedConfig } = givenConfig();

const longAnswers = async (...given: Parameters<typeof load>) => (await acceptedConfig(...given)).longAnswers;

const EXPECTED = 'expected a list of tools, of answer, answer_detailed, answer_quick';

test.each([
  ['an empty list', { long_answers: { tools: [] } }, {}],
  ['another key', { long_answers: { keep_ms: 5 } }, {}],
  ['a blank variable', undefined, { LONG_ANSWERS: '  ' }],
])('%s: the searches of no tool go on', async (_what, config, environment) => {
  expect(await longAnswers(config, environment)).toBeUndefined();
});

describe('LONG_ANSWERS', () => {
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

  test.each(['Answer', 'answer_detailed,'])('another value is a problem: %s', async (LONG_ANSWERS) => {
    expect(await problems(undefined, { LONG_ANSWERS })).toEqual([
      { where: 'LONG_ANSWERS', value: LONG_ANSWERS, message: EXPECTED },
    ]);
  });
});

test('YAML may set every key', async () => {
  const tools = ['answer_detailed', 'answer'];
  expect(await longAnswers({ long_answers: { tools, keep_ms: 2 } })).toEqual({ tools, keepMs: 2 });
});

test.each([
  ['recorded answers', { llm: { adapter: 'offline' } }, {}, false],
  ['answers that are recorded', { llm: { record: 'folder' } }, {}, false],
  ['an API key of 19 characters', {}, { OPENAI_API_KEY: 'k'.repeat(19) }, true],
  ['an API key of 20 characters', {}, { OPENAI_API_KEY: 'k'.repeat(20) }, undefined],
])('with %s, the tools work as without the key, or not', async (_name, config, environment, hasNotice) => {
  const { longAnswers, notices } = await acceptedConfig(
    { ...config, long_answers: { tools: ['answer'] } },
    environment,
  );
  expect(longAnswers?.tools).toEqual(hasNotice === undefined ? ['answer'] : undefined);
  expect(notices.map(({ where }) => where)).toEqual(hasNotice ? ['long_answers.tools'] : []);
});
