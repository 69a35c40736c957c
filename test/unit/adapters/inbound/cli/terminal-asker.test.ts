import { describe, expect, test } from 'vitest';
import { formFields } from '../../../../../src/adapters/inbound/cli/form-fields.ts';
import { type Typed, terminalAsker } from '../../../../../src/adapters/inbound/cli/terminal-asker.ts';
import type { Elicitation } from '../../../../../src/domain/gateway/elicitation.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';
import { never } from '../../../../support/core.ts';

const DECLINE: Typed = { action: 'decline' };
const CANCEL: Typed = { action: 'cancel' };

/** A terminal at which a person types these lines, and keys that end the question. */
function terminal(...typed: readonly (string | Typed)[]) {
  const shown: string[] = [];
  const left = typed.map((one) => (typeof one === 'string' ? { line: one } : one));
  let isOpen = false;
  const say = (line: string) => void shown.push(line);
  const open = () => {
    expect(isOpen).toBe(false);
    isOpen = true;
    return {
      next: async (prompt: string) => {
        shown.push(prompt);
        const next = left.shift();
        if (next === undefined) throw new Error(`nothing is typed at ${prompt}`);
        return next;
      },
      close: () => {
        isOpen = false;
      },
    };
  };
  return { asker: terminalAsker({ open, say }), shown, left };
}

function form(properties: JsonObject, required: readonly string[] = [], message = 'Ready?'): Elicitation {
  const schema = { type: 'object', properties, required };
  return { mode: 'form', server: 'files', message, schema, params: {} };
}

/** Asks for one field, and returns what was shown below the first line, and the answer. */
async function askFor(schema: JsonObject, isRequired: boolean, ...typed: readonly (string | Typed)[]) {
  const { asker, shown, left } = terminal(...typed);
  const answer = await asker.ask(form({ a: schema }, isRequired ? ['a'] : []), never());
  expect(left).toEqual([]);
  return { shown: shown.slice(1), answer };
}

const accepted = (a: unknown) => ({ action: 'accept', content: a === undefined ? {} : { a } });

test('the first line says who asks, and how to decline or cancel', async () => {
  const { asker, shown } = terminal('');
  await asker.ask(form({}, [], 'Delete 3 files?\nThey are old.'), never());
  expect(shown).toEqual([
    'files asks: Delete 3 files? (Ctrl-D: decline, Ctrl-C: cancel)',
    'They are old.',
    'Press Enter to accept: ',
  ]);
});

const COLORS = {
  type: 'string',
  oneOf: [
    { const: 'r', title: 'Red' },
    { const: 'g', title: 'Green' },
  ],
};
const TAGS = { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } };

test.each<readonly [string, JsonObject, string]>([
  ['a text', { type: 'string' }, 'a (text): '],
  [
    'its title and description',
    { type: 'string', title: 'Name', description: 'Who you are' },
    'Name - Who you are (text): ',
  ],
  ['lengths', { type: 'string', minLength: 2, maxLength: 5 }, 'a (text, 2 to 5 characters): '],
  ['an address', { type: 'string', format: 'email' }, 'a (e-mail address): '],
  ['a date', { type: 'string', format: 'date' }, 'a (date, such as 2026-01-31): '],
  ['a number', { type: 'number', minimum: 0 }, 'a (number, at least 0): '],
  ['a whole number', { type: 'integer', minimum: 0, maximum: 9, default: 0 }, 'a (whole number, 0 to 9) [0]: '],
  ['yes or no', { type: 'boolean', default: true }, 'a (y/n) [y]: '],
  ['choices with titles', { ...COLORS, default: 'g' }, 'a (1: Red, 2: Green) [2]: '],
  [
    'choices with names beside them',
    { type: 'string', enum: ['x', 'y'], enumNames: ['One', 'Two'] },
    'a (1: One, 2: Two): ',
  ],
  ['several choices', { ...TAGS, default: ['a', 'c'] }, 'a (1: a, 2: b, 3: c; several as 1,2) [1,3]: '],
  [
    'control characters',
    { type: 'string', title: '\u001B[31mName\u0007\u202E\nx', default: 'b\u001B[2J' },
    'Name x (text) [b]: ',
  ],
  ['members that are null', { type: 'string', title: null, default: null, minLength: null }, 'a (text): '],
  ['a default that is no value', { type: 'integer', maximum: 3, default: 7 }, 'a (whole number, at most 3): '],
])('one line shows %s', (_, schema, prompt) => {
  expect(formFields({ properties: { a: schema }, required: ['a'] })[0]?.prompt).toBe(prompt);
});

describe('Enter', () => {
  test.each<readonly [string, JsonObject, unknown]>([
    ['a default', { type: 'string', default: 'main' }, 'main'],
    ['false', { type: 'boolean', default: false }, false],
    ['an empty text', { type: 'string', default: '' }, ''],
    ['a choice', { ...COLORS, default: 'g' }, 'g'],
    ['several choices', { ...TAGS, default: ['b'] }, ['b']],
    ['nothing, if a field is optional', { type: 'integer' }, undefined],
  ])('takes %s', async (_, schema, value) => {
    expect((await askFor(schema, false, '')).answer).toEqual(accepted(value));
  });

  test.each<readonly [string, JsonObject]>([
    ['text', { type: 'string', default: '', minLength: 2 }],
    ['address', { type: 'string', default: '', format: 'email' }],
    ['choice', { ...COLORS, default: '' }],
    ['list', { ...TAGS, default: [], minItems: 1 }],
  ])('does not take an empty default that is no valid %s', async (_, schema) => {
    expect((await askFor(schema, true, '', DECLINE)).shown).toContain('A value is required.');
  });

  test('takes an empty list', async () => {
    expect((await askFor({ ...TAGS, default: [] }, true, '')).answer).toEqual(accepted([]));
  });

  test('does not leave out a required field', async () => {
    const { shown, answer } = await askFor({ type: 'string' }, true, '', '  ', 'x');
    expect(answer).toEqual(accepted('x'));
    expect(shown.filter((line) => line === 'A value is required.')).toHaveLength(2);
  });
});

test.each<readonly [JsonObject, readonly string[], string, unknown]>([
  [
    { type: 'integer', minimum: 1, maximum: 5 },
    ['x', '1.5', '6', '0x1', '９９', '３'],
    'Expected: whole number, 1 to 5.',
    3,
  ],
  [{ type: 'number' }, ['1,5', 'NaN', '', '-1.5e1'].filter(Boolean), 'Expected: number.', -15],
  [{ type: 'integer' }, ['12345678901234567890', '7'], 'Expected: whole number.', 7],
  [{ type: 'boolean' }, ['maybe', '1', 'Yes'], 'Expected: y or n.', true],
  [{ type: 'boolean' }, ['いいえ'], 'Expected: y or n.', false],
  [COLORS, ['0', '3', 'blue', '２'], 'Expected: a number from 1 to 2.', 'g'],
  [COLORS, ['red'], 'Expected: a number from 1 to 2.', 'r'],
  [{ ...TAGS, minItems: 2 }, ['2', '1,2,2'], 'Expected: at least 2 of these.', ['a', 'b']],
  [TAGS, ['1,4', '1;2', '1、３'], 'Expected: numbers from 1 to 3, such as 1,2.', ['a', 'c']],
  [
    { type: 'string', minLength: 2, maxLength: 3 },
    ['日', '日本語の', '𠮷野家'],
    'Expected: text, 2 to 3 characters.',
    '𠮷野家',
  ],
  [{ type: 'string', format: 'email' }, ['me', 'me@example.com'], 'Expected: e-mail address.', 'me@example.com'],
  [{ type: 'string', format: 'uri' }, ['example.com', 'https://example.com'], 'Expected: URL.', 'https://example.com'],
  [
    { type: 'string', format: 'date' },
    ['2026-02-30', '2026-2-3', '2026-02-28'],
    'Expected: date, such as 2026-01-31.',
    '2026-02-28',
  ],
  [
    { type: 'string', format: 'date-time' },
    ['2026-01-31', '2026-02-30T09:00:00Z', '2026-01-31T09:00:00+09:00'],
    'Expected: date and time, such as 2026-01-31T09:00:00Z.',
    '2026-01-31T09:00:00+09:00',
  ],
])('%j is asked until it is valid: %j', async (schema, lines, expected, value) => {
  const { shown, answer } = await askFor(schema, true, ...lines);
  expect(answer).toEqual(accepted(value));
  expect(shown.filter((line) => line === expected)).toHaveLength(lines.length - 1);
});

test('what is typed is sent as it is, without control characters', async () => {
  expect((await askFor({ type: 'string' }, true, ' 東京  3丁目\u0007 ')).answer).toEqual(accepted('東京  3丁目'));
});

test.each([
  ['Ctrl-D', DECLINE],
  ['Ctrl-C', CANCEL],
])('%s ends the form at any field, and nothing of it is sent', async (_, key) => {
  const { asker } = terminal('x', key);
  expect(await asker.ask(form({ a: { type: 'string' }, b: { type: 'string' } }, ['a', 'b']), never())).toEqual(key);
});

describe('a URL', () => {
  const visit = (url: string): Elicitation => ({ mode: 'url', server: 'files', message: 'Sign in', url, params: {} });

  test('without a host is printed alone', async () => {
    const { asker, shown } = terminal(DECLINE);
    await asker.ask(visit('mailto:ann@example.com'), never());
    expect(shown.slice(1, 3)).toEqual(['Open this address in your browser:', 'mailto:ann@example.com']);
  });

  test('is printed with its host, and Enter accepts it', async () => {
    const { asker, shown } = terminal('no', '');
    expect(await asker.ask(visit('https://аpple.com/x?a=1'), never())).toEqual({ action: 'accept' });
    expect(shown).toEqual([
      'files asks: Sign in (Ctrl-D: decline, Ctrl-C: cancel)',
      'Open this URL, at xn--pple-43d.com, in your browser:',
      'https://аpple.com/x?a=1',
      'Press Enter to accept: ',
      'Press Enter to accept, Ctrl-D to decline or Ctrl-C to cancel.',
      'Press Enter to accept: ',
    ]);
  });

  test('is declined by Ctrl-D', async () => {
    expect(await terminal(DECLINE).asker.ask(visit('https://example.com'), never())).toEqual(DECLINE);
  });
});

test('questions at the same time are asked one after the other', async () => {
  const { asker, shown } = terminal('1', '2');
  const ask = (message: string) => asker.ask(form({ a: { type: 'integer' } }, ['a'], message), never());
  expect(await Promise.all([ask('First?'), ask('Second?')])).toEqual([accepted(1), accepted(2)]);
  expect(shown.filter((line) => line.startsWith('files asks'))).toHaveLength(2);
});

test('a question whose call has ended is not asked', async () => {
  const { asker, shown } = terminal();
  expect(await asker.ask(form({}), AbortSignal.abort())).toEqual(CANCEL);
  expect(shown).toEqual([]);
});
