import { expect, test } from 'vitest';
import { SYSTEM_POLICY } from '../../../../src/domain/answers/system-policy.ts';

test.each(['web_search', 'Asia/Tokyo', 'YYYY-MM-DD', 'Sources:', 'oai-weather', 'language of the question'])(
  'the built-in policy mentions %s',
  (words) => {
    expect(SYSTEM_POLICY).toContain(words);
  },
);

test('the built-in policy does not depend on the date', () => {
  expect(SYSTEM_POLICY).not.toMatch(/\d{4}-\d{2}-\d{2}/);
});
