import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bareKey,
  createRedactor,
  keyProblem,
  looksLikeKey,
  MASK,
  redactedJson,
  redactedValue,
} from '../../../../src/domain/values/redaction.ts';
import { redactorOf } from '../../../support/redactor.ts';

const KEY = 'sk-proj-Ab12_cd34-EF56';

/** Letters, and characters that JSON, URLs, patterns and UTF-16 write in their own way. */
const secret = fc.string({
  unit: fc.constantFrom(...'ab"\\/+=&%$^.*|()[]{} \n鍵😀', '\ud800'),
  minLength: 9,
  maxLength: 40,
});
/** No character of a secret. */
const around = fc.string({ unit: fc.constantFrom(...'xyz1:,-日'), maxLength: 20 });
const spelling = fc.constantFrom(
  (secret: string) => secret,
  (secret: string) => JSON.stringify(secret).slice(1, -1),
  (secret: string) => encodeURIComponent(secret.toWellFormed()),
);

// S6, S83
describe('a secret of several lines', () => {
  const lines = ['MIIEvQIBADANBgkqhkiG9w0BAQEF', 'AASCBKcwggSjAgEAAoIBAQ+/DXk=', 'user:pa$$w0rd!"x', 'QmFzZTY0'];
  const secret = ['-----BEGIN PRIVATE KEY-----', ...lines, 'short', 'production', '-----END PRIVATE KEY-----', ''].join(
    '\r\n',
  );
  const redactor = createRedactor();
  redactor.learnLatest('key', [secret]);

  test.for(lines)('is masked also by the line %s alone', (line) => {
    for (const redact of [redactor.anywhere, redactor.known, redactor.inLogs]) {
      expect(redact(`bad line: ${line}`)).toBe(`bad line: ${MASK}`);
      expect(redact(`${line}\n${line}\tx`)).toBe(`${MASK}\n${MASK}\tx`);
      expect(redactedValue({ text: `a\n${line}\n"b"` }, redact)).toEqual({ text: `a\n${MASK}\n"b"` });
    }
  });

  test('is masked as a whole, and not by ordinary lines', () => {
    expect(redactor.anywhere(`(${secret})`)).toBe(`(${MASK})`);
    const others = '-----BEGIN PRIVATE KEY-----, short, production';
    expect(redactor.anywhere(others)).toBe(others);
    expect(redactor.anywhere(`line=${lines[1]},(${lines[0]})`)).toBe(`line=${MASK},(${MASK})`);
  });
});

// S6
test('a secret is masked in a text, in JSON and in a URL, and nothing else changes', () => {
  fc.assert(
    fc.property(secret, spelling, around, around, (secret, spell, before, after) => {
      const redactor = createRedactor();
      // A secret that is a part of another does not uncover it.
      for (const own of [secret.slice(1), secret]) redactor.learn({ own: [own] });
      for (const redact of [redactor.anywhere, redactor.known, redactor.inLogs]) {
        const text = (shown: string) => `${shown},${before},${shown},${after}`;
        expect(redact(text(spell(secret)))).toBe(text(MASK));
        expect(redactedValue({ [secret]: [before + secret, 1] }, redact)).toEqual({ [MASK]: [before + MASK, 1] });
      }
    }),
  );
});

describe('secrets of servers', () => {
  const redactor = redactorOf(KEY);
  redactor.learn({ ofServers: ['server-secret', 'hunter2'] });
  redactor.learn({ own: ['later-own-token'], ofServers: ['later-secret'] });
  const text = `${KEY} server-secret later-own-token later-secret`;

  test('are masked in texts of this program, also those that were learned later', () => {
    expect(redactor.inLogs(text)).toBe('[redacted] [redacted] [redacted] [redacted]');
  });

  test('are masked for the model, who may read words that look like keys', () => {
    expect(redactor.known(`${text} sk-hynix-earnings`)).toBe(
      '[redacted] [redacted] [redacted] [redacted] sk-hynix-earnings',
    );
  });

  test('are kept in results, unlike our own', () => {
    expect(redactor.anywhere(`${text} sk-hynix-earnings`)).toBe(
      '[redacted] server-secret [redacted] later-secret sk-hynix-earnings',
    );
  });

  test('that are short are masked only where no letter and no digit adjoins', () => {
    expect(redactor.inLogs("password 'hunter2' hunter2000 éhunter2 /hunter2/x")).toBe(
      "password '[redacted]' hunter2000 éhunter2 /[redacted]/x",
    );
  });
});

test.each(['', 'test'])('%j is too short for a key: masking it would damage answers', (key) => {
  expect(redactorOf(key).anywhere('a test of tests')).toBe('a test of tests');
});

describe('in logs', () => {
  const { inLogs } = createRedactor();

  test.each([
    ['a key that is not known', '"sk-abcDEF123_-x" is wrong', '"[redacted]" is wrong'],
    ['a key with asterisks, as the API shows it', 'provided: sk-proj-****wxyz.', 'provided: [redacted].'],
    ['a bearer', 'authorization: Bearer eyJ.abc', 'authorization: Bearer [redacted]'],
  ])('%s is masked', (_, line, masked) => {
    expect(inLogs(line)).toBe(masked);
  });

  test.each(['https://a.com/altman-vs-musk-vs-openai', 'risk-free', 'Authorization: Bearer ...'])(
    '%s is kept',
    (line) => {
      expect(inLogs(line)).toBe(line);
    },
  );
});

test('a key of digits is masked in strings and names of JSON, and not in numbers', () => {
  const { anywhere } = redactorOf('12345678');
  const value = { a: [12345678, 'x 12345678'], b: { 'n-12345678': null }, c: true };
  expect(redactedJson(value, anywhere)).toBe('{"a":[12345678,"x [redacted]"],"b":{"n-[redacted]":null},"c":true}');
});

test('of keys that are replaced again and again, the latest of each name are masked, and those before', () => {
  const redactor = createRedactor();
  for (const number of [1, 2, 3]) redactor.learnLatest('a', [`token-number-${number}`]);
  redactor.learnLatest('a', ['token-number-3']);
  redactor.learnLatest('b', ['token-number-33']);
  for (const redact of [redactor.anywhere, redactor.known, redactor.inLogs])
    expect(redact('token-number-1 token-number-2 token-number-3 token-number-33')).toBe(
      `token-number-1 ${MASK} ${MASK} ${MASK}`,
    );
});

test.each([
  [KEY, true],
  [' sk-abc123 ', true],
  ['task-force', false],
  ['sk-', false],
  ['see sk-abc123', false],
])('whether %j looks like a key: %s', (text, expected) => {
  expect(looksLikeKey(text)).toBe(expected);
});

test.each([
  [KEY, undefined],
  ['gateway.token+1', undefined],
  ['$2b$12$abc', undefined],
  ['%41bc', undefined],
  [undefined, 'no_api_key'],
  ['', 'malformed_api_key'],
  ['sk-with blank', 'malformed_api_key'],
  ['sk-with\nnewline', 'malformed_api_key'],
  ['sk-キー', 'malformed_api_key'],
  ['sk-proj-…', 'placeholder_api_key'],
  ['<your key>', 'placeholder_api_key'],
  ['sk-your-openai-api-key', 'placeholder_api_key'],
  [`\${env:OPENAI_API_KEY}`, 'placeholder_api_key'],
  ['$OPENAI_API_KEY', 'placeholder_api_key'],
  ['%OPENAI_API_KEY%', 'placeholder_api_key'],
])('the problem with the key %j is %s', (key, problem) => {
  expect(keyProblem(key)).toBe(problem);
});

test.each([
  ['"sk-abc"', 'sk-abc'],
  ["'sk-abc'", 'sk-abc'],
  ['“sk-abc”', 'sk-abc'],
  ['„sk-abc“', 'sk-abc'],
  ['" sk-abc "', 'sk-abc'],
  ['"sk-abc', '"sk-abc'],
  ['sk-"abc"', 'sk-"abc"'],
  ['\\"sk-abc\\"', 'sk-abc'],
  [`"'sk-abc'"`, 'sk-abc'],
  ['＂sk-abc＂', 'sk-abc'],
  ['‹sk-abc›', 'sk-abc'],
  ['""', ''],
  ['"', '"'],
  ['', ''],
])('%s without quotation marks around it is %s', (key, bare) => {
  expect(bareKey(key)).toBe(bare);
});
