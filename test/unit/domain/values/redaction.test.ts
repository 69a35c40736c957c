import { describe, expect, test } from 'vitest';
import {
  createRedactor,
  keyProblem,
  looksLikeKey,
  MASK,
  redactedJson,
} from '../../../../src/domain/values/redaction.ts';
import { redactorOf } from '../../../support/redactor.ts';

const KEY = 'sk-proj-Ab12_cd34-EF56';

describe('anywhere', () => {
  const { anywhere } = redactorOf(KEY);

  test('the known key is masked at every occurrence', () => {
    expect(anywhere(`a ${KEY} b ${KEY}`)).toBe('a [redacted] b [redacted]');
    expect(anywhere(`https://a.com/?k=${KEY}`)).toBe('https://a.com/?k=[redacted]');
  });

  test('a key that JSON escapes is masked in JSON', () => {
    const key = 'gw"key\\with-quotes';
    const { anywhere } = redactorOf(key);
    expect(JSON.parse(anywhere(JSON.stringify({ a: `key ${key}` })))).toEqual({ a: 'key [redacted]' });
  });

  test.each([
    'https://a.com/altman-vs-musk-vs-openai-trial',
    'https://a.com/gsk-boosts-outlook-2026',
    'https://a.com/sk-hynix-earnings',
    'Keys begin with sk-proj- and are long.',
    'Authorization: Bearer YOUR_TOKEN',
  ])('%s is kept', (text) => {
    expect(anywhere(text)).toBe(text);
  });

  test.each(['', 'test'])('%j is too short for a key: masking it would damage answers', (key) => {
    expect(redactorOf(key).anywhere('a test of tests')).toBe('a test of tests');
  });
});

describe('in logs', () => {
  const { inLogs } = redactorOf('gateway-token-1');

  test.each([
    ['another key', 'key sk-abcDEF123_-x is wrong', 'key [redacted] is wrong'],
    [
      'the key with asterisks, as the API shows it',
      'Incorrect API key provided: sk-proj-****************wxyz.',
      'Incorrect API key provided: [redacted].',
    ],
    ['a key in quotes', '"sk-abcdef"', '"[redacted]"'],
    ['a key after a sign', 'key=sk-abcdef', 'key=[redacted]'],
    ['the known key', 'key gateway-token-1', 'key [redacted]'],
    ['a bearer', 'authorization: Bearer eyJ.abc', 'authorization: Bearer [redacted]'],
  ])('%s is masked', (_, line, masked) => {
    expect(inLogs(line)).toBe(masked);
  });

  test.each(['https://a.com/altman-vs-musk-vs-openai', 'https://a.com/gsk-boosts-outlook', 'task-1', 'risk-free'])(
    '%s is kept',
    (line) => {
      expect(inLogs(line)).toBe(line);
    },
  );
});

describe('the secrets of servers', () => {
  const redactor = redactorOf(KEY);
  redactor.learn({ ofServers: ['s3cr3t-value/+=', 'hunter2'] });
  redactor.learn({ own: ['later-own-token'], ofServers: ['later-secret'] });
  const text = `${KEY} s3cr3t-value/+= later-own-token later-secret`;

  test('are masked in texts of this program, also those that were learned later', () => {
    expect(redactor.inLogs(text)).toBe('[redacted] [redacted] [redacted] [redacted]');
  });

  test('are masked for the model, who may read words that look like keys', () => {
    expect(redactor.known(`${text} sk-hynix-earnings`)).toBe(
      '[redacted] [redacted] [redacted] [redacted] sk-hynix-earnings',
    );
  });

  test('are kept in results, unlike our own', () => {
    expect(redactor.anywhere(text)).toBe('[redacted] s3cr3t-value/+= [redacted] later-secret');
  });

  test('are masked as a URL writes them', () => {
    expect(redactor.inLogs('?a=s3cr3t-value%2F%2B%3D')).toBe('?a=[redacted]');
  });

  test('are masked as words if they are short', () => {
    expect(redactor.inLogs("password 'hunter2' hunter2000")).toBe("password '[redacted]' hunter2000");
  });
});

test('a key is masked in strings and names of JSON, and not in numbers', () => {
  const { anywhere } = redactorOf('12345678');
  const value = { a: [12345678, 'x 12345678'], b: { 'n-12345678': null }, c: true };
  expect(redactedJson(value, anywhere)).toBe('{"a":[12345678,"x [redacted]"],"b":{"n-[redacted]":null},"c":true}');
});

test.each([KEY, ' sk-abc123 ', 'sk-svcacct-x_y'])('%j looks like a key', (text) => {
  expect(looksLikeKey(text)).toBe(true);
});

test.each(['OPENAI_API_KEY', 'task-force', 'sk', 'sk-', 'gpt-5.2', 'see sk-abc123', ''])(
  '%j does not look like a key',
  (text) => {
    expect(looksLikeKey(text)).toBe(false);
  },
);

test.each([
  'sk-...',
  'sk-proj-…',
  '<your key>',
  'sk-your-openai-api-key',
  `\${OPENAI_API_KEY}`,
  `\${env:OPENAI_API_KEY}`,
  `\${input:openai-key}`,
  `\${user_config.api_key}`,
  '$OPENAI_API_KEY',
  '%OPENAI_API_KEY%',
])('%s is a placeholder that was not replaced', (key) => {
  expect(keyProblem(key)).toBe('placeholder_api_key');
});

test.each([KEY, 'gateway.token+1', '$2b$12$abc', '%41bc'])('%s is a usable key', (key) => {
  expect(keyProblem(key)).toBeUndefined();
});

describe('keys that are replaced again and again', () => {
  test('are masked everywhere: the latest of each name, and those before', () => {
    const redactor = createRedactor();
    for (const number of [1, 2, 3]) redactor.learnLatest('a', [`token-number-${number}`]);
    redactor.learnLatest('a', ['token-number-3']);
    redactor.learnLatest('b', ['token-number-33']);
    for (const redact of [redactor.anywhere, redactor.known, redactor.inLogs])
      expect(redact('token-number-1 token-number-2 token-number-3 token-number-33')).toBe(
        `token-number-1 ${MASK} ${MASK} ${MASK}`,
      );
  });
});

describe('masking', () => {
  const redactorOfServers = (secrets: readonly string[]) => {
    const redactor = createRedactor();
    redactor.learn({ ofServers: secrets });
    return redactor.known;
  };

  test.each([
    [[], 'abcdefgh', 'abcdefgh'],
    [['abcdefgh'], '', ''],
    [['abcdefgh'], 'abcdefg', 'abcdefg'],
    [['abcdefgh'], 'abcdefgh', MASK],
    [['abcdefgh'], 'xabcdefghabcdefghx', `x${MASK}${MASK}x`],
    [['abcdefgh', 'abcdefghij'], 'abcdefghij abcdefgh', `${MASK} ${MASK}`],
    [['aaaaaaaa'], 'a'.repeat(15), `${MASK}aaaaaaa`],
    [['とても長い秘密の鍵'], 'これはとても長い秘密の鍵です', `これは${MASK}です`],
  ])('replaces %j in %j', (secrets, text, masked) => {
    expect(redactorOfServers(secrets)(text)).toBe(masked);
  });

  test('replaces a short secret only where no letter and no digit adjoins', () => {
    expect(redactorOfServers(['root'])('root, "root" uproot rooté root1 /root/x')).toBe(
      `${MASK}, "${MASK}" uproot rooté root1 /${MASK}/x`,
    );
  });
});
