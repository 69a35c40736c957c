import { describe, expect, test } from 'vitest';
import { toErrorLine, toProblemLine } from '../../../../src/domain/values/error-line.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

describe('the essential line of an error', () => {
  test.each([
    ['Rate limit reached', 'Rate limit reached'],
    ['\n\n  First line.\nSecond line.', 'First line.'],
    ['First\r\nsecond', 'First'],
    ['First\u2028second', 'First'],
    ['', ''],
    [' \n ', ''],
    ['a\u001B[31mb\u202E\u0000\u{E0041}c\u200B', 'abc'],
    ['it is\uE200cite\uE202turn0tool0\uE201 here', 'it is here'],
    ['Error: boom\n    at f (/home/me/a.js:1:2)\n    at g (node:internal/x:3:4)', 'Error: boom'],
    ['Error: boom at f (/home/me/a.js:1:2) at g (b.js:3:4)', 'Error: boom'],
    ['Error: boom at async Object.run [as fn] (file:///a/b.mjs:10:20)', 'Error: boom'],
    ['{"error":"boom\\n    at f (/home/me/a.js:1:2)\\n    at g"}', '{"error":"boom'],
    ['The meeting at 10:30 failed', 'The meeting at 10:30 failed'],
    ['Traceback (most recent call last):\n  File "/srv/a.py", line 1, in f\nValueError: no', 'ValueError: no'],
    ['Traceback (most recent call last):', ''],
  ])('of %j is %j', (message, line) => {
    expect(toErrorLine(message)).toBe(line);
  });

  test.each([
    [
      "ENOENT: no such file or directory, open '/Users/Bob Smith/notes/a.txt'",
      "ENOENT: no such file or directory, open '<path>'",
    ],
    ['cannot read /home/me/.config/x.yaml: denied', 'cannot read <path>: denied'],
    ['cannot read "/secret"', 'cannot read "<path>"'],
    ['cannot read /Users/Bob Smith/notes/a.txt now', 'cannot read <path> now'],
    ['no ~/.ssh and no ~/.aws/credentials', 'no <path> and no <path>'],
    ['no /home/利用者/秘密.txt', 'no <path>'],
    ['no C:\\Users\\Bob Smith\\a.txt!', 'no <path>'],
    ['no C:/secret.txt', 'no <path>'],
    ['{"path":"C:\\\\Users\\\\me\\\\a.txt"}', '{"path":"<path>"}'],
    ['no \\\\server\\share\\a.txt', 'no <path>'],
    ['no file:///home/me/a.txt, sorry', 'no <path> sorry'],
    ['cwd=/srv/app/data:10:5', 'cwd=<path>:10:5'],
    ['(/srv/app/data)', '(<path>)'],
  ])('names no path: %j', (message, line) => {
    expect(toErrorLine(message)).toBe(line);
  });

  test.each([
    '404 at https://jira.example.com/rest/api/2',
    'on 2026/11/22 and/or not',
    'a / b',
    "unexpected '/'",
    'n/a',
  ])('keeps what is no path: %j', (message) => {
    expect(toErrorLine(message)).toBe(message);
  });

  test('has at most 300 characters, never half of one', () => {
    expect(toErrorLine('x'.repeat(400))).toBe('x'.repeat(300));
    expect(toErrorLine(`${'x'.repeat(299)}😀`)).toBe(`${'x'.repeat(299)}\uFFFD`);
  });

  test.each([' at', '/a ', '/a', '\\n at x:1', "'/", 'file:', '~/', '\\\\', 'a '])(
    'is found soon in %j, repeated',
    (part) => {
      const message = part.repeat(1_000_000);
      // It takes less than 10 ms.
      expect(cpuMs(() => toErrorLine(message))).toBeLessThan(1000);
    },
  );
});

test('the line of a problem keeps JSON pointers, which look like paths', () => {
  expect(toProblemLine('/items/0/name must be a string;\nmore')).toBe('/items/0/name must be a string;');
  expect(toProblemLine('x'.repeat(400))).toHaveLength(300);
});
