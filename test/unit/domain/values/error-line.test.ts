import { describe, expect, test } from 'vitest';
import { toErrorLine } from '../../../../src/domain/values/clean-text.ts';

describe('the essential line of an error', () => {
  test.each([
    ['\n\n  First line.\nSecond line.', 'First line.'],
    ['First\u2028second', 'First'],
    [' \n ', ''],
    ['a\u001B[31mb\u202E\u0000\u{E0041}c', 'abc'],
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
    "ENOENT: no such file or directory, open '/Users/Bob Smith/notes/a.txt'",
    'Not Found: GET /repos/acme/api/issues/42',
    'no C:\\Users\\Bob Smith\\a.txt!',
  ])('keeps the path that the server named: %j', (message) => {
    expect(toErrorLine(message)).toBe(message);
  });

  test('has at most 300 characters, never half of one', () => {
    expect(toErrorLine('x'.repeat(400))).toBe(`${'x'.repeat(299)}…`);
    expect(toErrorLine(`${'x'.repeat(298)}😀y`)).toBe(`${'x'.repeat(298)}…`);
  });
});
