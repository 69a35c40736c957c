import { expect, test } from 'vitest';
import { askedText, modesOf } from '../../../../src/domain/gateway/elicitation.ts';

test.for<[declared: object, modes: readonly string[]]>([
  [{}, []],
  [{ elicitation: null }, []],
  [{ elicitation: {} }, ['form']],
  [{ elicitation: { form: {} } }, ['form']],
  [{ elicitation: { url: {} } }, ['url']],
  [{ elicitation: { form: {}, url: {} } }, ['form', 'url']],
  [{ sampling: {} }, []],
])('the capabilities %j allow the modes %j', ([declared, modes]) => {
  expect(modesOf({ ...declared })).toEqual(modes);
});

test('a question names its server, without characters that control a terminal', () => {
  expect(askedText({ server: 'files', message: 'Delete \u001b[31m3\u001b[0m files?\u0007' })).toBe(
    'files asks: Delete 3 files?',
  );
});
