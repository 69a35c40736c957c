import { expect, test } from 'vitest';
import { mergePolicy, SYSTEM_POLICY, SYSTEM_POLICY_REV } from '../../../src/domain/system-policy.ts';

test('a policy file replaces the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'replace')).toBe('Be brief.');
});

test('a policy file stands before the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'prepend')).toBe(`Be brief.\n\n${SYSTEM_POLICY}`);
});

test('a policy file stands behind the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'append')).toBe(`${SYSTEM_POLICY}\n\nBe brief.`);
});

test('the revision is a day and a version', () => {
  expect(SYSTEM_POLICY_REV).toMatch(/^\d{4}-\d{2}-\d{2} v\d+\.\d+\.\d+$/);
});

test.each(['web_search', 'Asia/Tokyo', 'YYYY-MM-DD', 'Sources:', 'oai-weather', 'language of the question'])(
  'the built-in policy speaks of %s',
  (words) => {
    expect(SYSTEM_POLICY).toContain(words);
  },
);

test('the built-in policy is the same from day to day', () => {
  expect(SYSTEM_POLICY).not.toMatch(/\d{4}-\d{2}-\d{2}/);
});
