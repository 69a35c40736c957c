import { expect, test } from 'vitest';
import { isUnencrypted } from '../../../../../src/adapters/outbound/network/addresses.ts';

test.each([
  ['http://litellm:4000/v1', true],
  ['HTTP://192.168.0.1', true],
  ['http://localhost:11434/v1', false],
  ['http://127.0.0.2/v1', false],
  ['http://[::1]:8080', false],
  ['https://api.example.com/v1', false],
])('what is sent to %s can be read by others: %s', (url, expected) => {
  expect(isUnencrypted(url)).toBe(expected);
});
