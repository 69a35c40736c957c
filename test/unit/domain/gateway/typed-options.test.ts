import { expect, test } from 'vitest';
import { typedOptions } from '../../../../src/domain/gateway/typed-options.ts';

test.each([
  [{}, ''],
  [{ '--config': 'g.yaml', '--debug': '' }, ' --config g.yaml'],
  [{ '--servers': "my file's.json", '--config': 'g.yaml' }, " --config g.yaml --servers 'my file'\\''s.json'"],
])('an advised command repeats of %j: %j', (typed, words) => {
  expect(typedOptions(typed)).toBe(words);
});
