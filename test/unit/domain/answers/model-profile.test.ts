import { describe, expect, test } from 'vitest';
import { profileFor, profileSupport } from '../../../../src/domain/answers/model-profile.ts';

// S44
describe('what a model accepts', () => {
  test.each([
    ['gpt-5.2', true, true],
    ['gpt-5.2-chat-latest', true, true],
    ['gpt-10-mini', true, true],
    ['o3', false, true],
    ['o3-deep-research', false, true],
    ['o4-mini', false, true],
    ['o1', false, false],
    ['gpt-4o', false, false],
    ['gpt-oss-120b', false, false],
    ['my-gpt-5', false, false],
  ])('%s: verbosity %s, effort %s', (model, verbosity, reasoning) => {
    expect(profileSupport({ model })).toEqual({ verbosity, reasoning });
  });

  test.each([
    ['my-gpt-5', { verbosity: false, reasoning: true }],
    ['gpt-4o', { verbosity: false, reasoning: false }],
  ])('%s with a configured effort: %j', (model, expected) => {
    expect(profileSupport({ model, configured: ['reasoningEffort'] })).toEqual(expected);
  });
});

// S32
describe('the profile of a tool', () => {
  const answer = { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'low' } as const;

  test('is completed from answer, field by field', () => {
    const profiles = { answer, answer_detailed: { reasoningEffort: 'high', maxToolCalls: 9 } } as const;
    expect(profileFor('answer_detailed', profiles)).toEqual({
      model: 'gpt-5.2',
      reasoningEffort: 'high',
      verbosity: 'low',
      maxToolCalls: 9,
    });
  });

  test('is not completed from that of another tool', () => {
    expect(profileFor('answer_quick', { answer, answer_detailed: { model: 'o3' } })).toEqual(answer);
  });

  test('is missing if answer was removed and the tool has no model', () => {
    expect(profileFor('answer', { answer_quick: { model: 'o3' } })).toBeUndefined();
    expect(profileFor('answer_detailed', { answer_detailed: { verbosity: 'high' } })).toBeUndefined();
    expect(profileFor('answer_quick', { answer_quick: { model: 'o3' } })).toEqual({ model: 'o3' });
  });
});
