import { expect, test } from 'vitest';
import { mergePolicy, SYSTEM_POLICY, SYSTEM_POLICY_REV } from '../../../../src/domain/answers/system-policy.ts';

test('a policy file replaces the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'replace')).toBe('Be brief.');
});

test('a policy file precedes the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'prepend')).toBe(`Be brief.\n\n${SYSTEM_POLICY}`);
});

test('a policy file follows the built-in policy', () => {
  expect(mergePolicy('\nBe brief.\n', 'append')).toBe(`${SYSTEM_POLICY}\n\nBe brief.`);
});

test('the revision is a date and a version', () => {
  expect(SYSTEM_POLICY_REV).toMatch(/^\d{4}-\d{2}-\d{2} v\d+\.\d+\.\d+$/);
});

test.each(['web_search', 'Asia/Tokyo', 'YYYY-MM-DD', 'Sources:', 'oai-weather', 'language of the question'])(
  'the built-in policy mentions %s',
  (words) => {
    expect(SYSTEM_POLICY).toContain(words);
  },
);

test('the built-in policy does not depend on the date', () => {
  expect(SYSTEM_POLICY).not.toMatch(/\d{4}-\d{2}-\d{2}/);
});
