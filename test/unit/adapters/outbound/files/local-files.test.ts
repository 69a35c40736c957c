import { expect, test } from 'vitest';
import { systemProgram } from '../../../../../src/adapters/outbound/files/local-files.ts';

test.each([
  [{ SystemRoot: 'D:\\Windows' }, 'D:\\Windows\\System32\\taskkill.exe'],
  [{}, 'C:\\Windows\\System32\\taskkill.exe'],
])('with %j, a program of Windows is %s', (environment, expected) => {
  expect(systemProgram('taskkill', environment)).toBe(expected);
});
