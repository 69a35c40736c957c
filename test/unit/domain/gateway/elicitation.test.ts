import { expect, test } from 'vitest';
import { askedText, modesOf, parseAnswer, parseElicitation } from '../../../../src/domain/gateway/elicitation.ts';
import { namedRequest } from '../../../../src/domain/gateway/input-requests.ts';
import { ExactNumber } from '../../../../src/domain/values/exact-number.ts';

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

const FORM = { type: 'object', properties: { sure: { type: 'boolean', default: false } } };
const field = (one: unknown) => ({ message: 'Sure?', requestedSchema: { type: 'object', properties: { one } } });
const [EARLIER, LATER] = ['2025-06-18', '2025-11-25'] as const;

test('a question names its server, and has no characters that control a terminal', () => {
  const params = { message: 'Delete \u001b[31m3\u001b[0m files?\u0007', requestedSchema: FORM };
  const asked = parseElicitation('files', params, EARLIER);
  expect(asked).toMatchObject({ mode: 'form', schema: FORM, params });
  expect(asked && askedText(asked)).toBe('files asks: Delete 3 files?');
});

test.for<[params: unknown, revision: string, mode: 'form' | 'url' | undefined]>([
  [{ message: 'Sure?', requestedSchema: FORM }, EARLIER, 'form'],
  [{ mode: 'form', message: 'Sure?', requestedSchema: FORM }, EARLIER, 'form'],
  [{ mode: null, message: 'Sure?', requestedSchema: FORM }, EARLIER, 'form'],
  [{ mode: 'url', message: 'Sign in', url: 'https://example.com/a', elicitationId: 'e' }, LATER, 'url'],
  [{ mode: 'url', message: 'Sign in', url: 'not a URL' }, LATER, undefined],
  [{ mode: 'url', message: 'Sign in' }, LATER, undefined],
  [{ mode: 'voice', message: 'Sure?', requestedSchema: FORM }, LATER, undefined],
  [{ requestedSchema: FORM }, LATER, undefined],
  [{ message: 'Sure?' }, LATER, undefined],
  [{ message: 'Sure?', requestedSchema: { type: 'object' } }, LATER, undefined],
  [{ message: 'Sure?', requestedSchema: { ...FORM, required: [1] } }, LATER, undefined],
  [{ message: 'Sure?', requestedSchema: { ...FORM, required: ['sure'], $schema: 'x' } }, LATER, 'form'],
  [{ message: 'a'.repeat(65_000), requestedSchema: FORM }, LATER, 'form'],
  [{ message: 'a'.repeat(65_536), requestedSchema: FORM }, LATER, undefined],
  [{ message: 'あ'.repeat(30_000), requestedSchema: FORM }, LATER, undefined],
  [field({ type: 'string', minLength: 1, maxLength: 3, format: 'email', default: null }), EARLIER, 'form'],
  [field({ type: 'string', format: 'password' }), EARLIER, undefined],
  [field({ type: 'string', enum: ['a'], enumNames: ['A'] }), EARLIER, 'form'],
  [field({ type: 'string', enum: [1] }), EARLIER, undefined],
  [field({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }), LATER, 'form'],
  [field({ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }), EARLIER, undefined],
  [field({ type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1 }), LATER, 'form'],
  [field({ type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }), LATER, 'form'],
  [field({ type: 'array', items: { type: 'string', enum: ['a'] } }), EARLIER, undefined],
  [field({ type: 'array', items: { type: 'string' } }), LATER, undefined],
  [field({ type: 'integer', minimum: 0, maximum: 9, default: 1 }), EARLIER, 'form'],
  [field({ type: 'integer', maximum: new ExactNumber('9223372036854775807') }), EARLIER, 'form'],
  [field({ type: 'number', default: '1' }), EARLIER, undefined],
  [field({ type: 'boolean', default: 'true' }), EARLIER, undefined],
  [field({ type: 'object', properties: {} }), LATER, undefined],
  [field({ type: ['string', 'null'] }), LATER, undefined],
  [field({ anyOf: [{ type: 'string' }] }), LATER, undefined],
  [field({ $ref: '#/$defs/a' }), LATER, undefined],
  [field(true), LATER, undefined],
])('%j of a server of %s is asked in the mode %s', ([params, revision, mode]) => {
  expect(parseElicitation('files', params, revision)?.mode).toBe(mode);
});

test('what a server writes as null is absent for clients, other than in what the form is not', () => {
  const one = { type: 'string', title: null, default: null };
  const requestedSchema = { ...FORM, required: null, properties: { one } };
  const asked = parseElicitation(
    'files',
    { mode: null, message: 'Sure?', requestedSchema, _meta: { a: null } },
    EARLIER,
  );
  expect(asked && namedRequest(asked).params).toEqual({
    message: 'files asks: Sure?',
    requestedSchema: { type: 'object', properties: { one: { type: 'string' } } },
    _meta: { a: null },
  });
});

test.for<[value: unknown, answer: unknown]>([
  [
    { action: 'accept', content: { sure: true } },
    { action: 'accept', content: { sure: true } },
  ],
  [{ action: 'accept' }, { action: 'accept' }],
  [{ action: 'accept', content: null }, { action: 'accept' }],
  [{ action: 'decline', content: { sure: true } }, { action: 'decline' }],
  [{ action: 'cancel' }, { action: 'cancel' }],
  [{ action: 'yes' }, undefined],
  [{}, undefined],
  ['accept', undefined],
])('%j is the answer %j', ([value, answer]) => {
  expect(parseAnswer(value)).toEqual(answer);
});
